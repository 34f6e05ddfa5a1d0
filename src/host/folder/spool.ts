import { open, rm } from 'node:fs/promises'
import { join } from 'node:path'

/** An upload that has arrived whole. */
export interface Spool {
  /** As a file is read, from its start. */
  pieces(): AsyncIterable<Uint8Array>
  /** Frees its room on the disk. */
  remove(): Promise<void>
}

/** Of the names of spools. One that has a name after a crash is empty. */
const spoolSuffix = '.upload'
const pieceBytes = 64 * 1024

/**
 * Receives an upload into a file. The file loses its name at once, so nothing of it stays when the host is killed.
 *
 * @param id of no other upload
 * @throws what reading the upload throws
 */
export async function receiveSpool(folder: string, id: string, upload: AsyncIterable<Uint8Array>): Promise<Spool> {
  const path = join(folder, `${id}${spoolSuffix}`)
  const file = await open(path, 'wx+', 0o600)
  let bytes = 0
  try {
    await rm(path)
    for await (const piece of upload) {
      await file.writeFile(piece)
      bytes += piece.length
    }
  } catch (error) {
    await file.close()
    throw error
  }
  return {
    async *pieces() {
      for (let at = 0; at < bytes; ) {
        const buffer = Buffer.allocUnsafe(Math.min(pieceBytes, bytes - at))
        const { bytesRead } = await file.read(buffer, 0, buffer.length, at)
        if (bytesRead === 0) throw new Error('The file of an upload became shorter.')
        at += bytesRead
        yield buffer.subarray(0, bytesRead)
      }
    },
    remove: () => file.close(),
  }
}
