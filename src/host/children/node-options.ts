import { dirname } from 'node:path'

/** What one child has, by the paths that it sees itself. */
export interface Seen {
  /** The program of the child: one file. */
  runner: string
  releaseFolder: string
  temporaryFolder: string
  /** mingo's CommonJS build. */
  mingo: string
  /** The JavaScript heap, in bytes. */
  memoryBytes: number
}

/**
 * Node's own flags: its permission model allows no child processes, workers, addons, WASI or inspector.
 *
 * @param known those of this version of Node
 */
export function nodeOptions(
  { runner, releaseFolder, temporaryFolder, mingo, memoryBytes }: Seen,
  known: ReadonlySet<string> = process.allowedNodeEnvironmentFlags,
): string[] {
  return [
    // Node 20 calls it experimental, and would write so into the log of the space at each start.
    ...(known.has('--permission')
      ? ['--permission']
      : ['--experimental-permission', '--disable-warning=ExperimentalWarning']),
    `--allow-fs-read=${runner}`,
    `--allow-fs-read=${releaseFolder}/*`,
    `--allow-fs-read=${dirname(dirname(mingo))}/*`,
    `--allow-fs-read=${temporaryFolder}/*`,
    `--allow-fs-write=${temporaryFolder}/*`,
    `--max-old-space-size=${Math.ceil(memoryBytes / 1024 / 1024)}`,
    '--disable-proto=delete',
    // From Node 25 on the unix sockets of a child need it too. Who has a network is for the sandbox to say.
    ...(known.has('--allow-net') ? ['--allow-net'] : []),
    // The permission model does not check it.
    ...(known.has('--no-experimental-sqlite') ? ['--no-experimental-sqlite'] : []),
    ...(known.has('--disable-sigusr1') ? ['--disable-sigusr1'] : []),
  ]
}
