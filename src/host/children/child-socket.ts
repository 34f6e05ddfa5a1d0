import { constants } from 'node:fs'
import { open } from 'node:fs/promises'

/** The socket of a child, as the front found it. */
export interface ChildSocket {
  /** For the next connection. After `close` nothing listens there: the number of a descriptor may then be that of another child. */
  readonly path: string
  close(): Promise<void>
}

/** Opens a place in the file system, and not what is in it. Node has no name for this flag of Linux. */
const onlyPlace = 0o10000000
const closedPath = '/proc/self/fd/closed'

/**
 * Finds the socket once and keeps it, so that the child cannot put a link to another socket in its place afterwards.
 *
 * @returns null when there is no socket, or something else
 */
export async function openChildSocket(path: string): Promise<ChildSocket | null> {
  if (process.platform !== 'linux') return { path, close: async () => {} }
  const place = await open(path, onlyPlace | constants.O_NOFOLLOW).catch(() => null)
  if (place === null) return null
  if (!(await place.stat()).isSocket()) {
    await place.close()
    return null
  }
  let own = `/proc/self/fd/${place.fd}`
  return {
    get path() {
      return own
    },
    close() {
      own = closedPath
      return place.close()
    },
  }
}
