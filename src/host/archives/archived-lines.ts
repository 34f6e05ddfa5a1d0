import { readLines } from '../../http/streams/read-lines.js'
import { archiveInvalid } from './archive-invalid.js'
import type { ArchiveEntry } from './entries.js'
import { quoted } from './quoted.js'

/** A line of an entry. `bytes`: without its end. */
export interface ArchivedLine {
  path: string
  /** From 1 on. */
  number: number
  text: string
  bytes: number
}

/** @throws {AuthError} `archive_invalid` for a line that is too long, or no UTF-8 */
export async function* linesOf({ path, bytes }: ArchiveEntry, longestBytes: number): AsyncGenerator<ArchivedLine> {
  let number = 0
  for await (const line of readLines(bytes, longestBytes)) {
    number += 1
    if ('fault' in line) throw archiveInvalid(`Line ${number} of ${quoted(path)} is too long, or no UTF-8.`)
    yield { path, number, text: line.text, bytes: Buffer.byteLength(line.text) }
  }
}
