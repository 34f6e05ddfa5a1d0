/**
 * Keeps SIGUSR1 from opening the inspector. Through it, any process of the same user could read the memory of this one,
 * environment values included. The first statement of each program of the host calls it. A second call changes nothing.
 */
export function ignoreDebugger(): void {
  if (!process.listeners('SIGUSR1').includes(ignore)) process.on('SIGUSR1', ignore)
}

function ignore(): void {}
