// Before anything else is loaded. By default SIGUSR1 opens the inspector, by which any process of the same user would read this
// one's memory, environment values included.
process.on('SIGUSR1', () => {})
