import { open } from 'node:fs/promises'

/** Writes the entries of a folder to disk, so that a file made or renamed in it survives a power failure. */
export async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, 'r')
  try {
    await folder.sync()
  } finally {
    await folder.close()
  }
}
