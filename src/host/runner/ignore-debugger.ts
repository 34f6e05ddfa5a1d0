// Loaded before anything else. By default SIGUSR1 opens the inspector, through which any process of the same user could read
// the memory of this one, environment values included.
process.on('SIGUSR1', () => {})
