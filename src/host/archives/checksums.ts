import { fieldsIn, listIn, readFields, textIn } from '../../lib/json-fields.js'
import type { Signature } from '../sealing/master-keys.js'
import { countIn } from './backup-manifest.js'

/** An entry of a backup, as the last entry lists it. */
export interface ArchivedEntry {
  path: string
  bytes: number
  /** Hexadecimal. */
  sha256: string
}

export interface Checksums {
  /** In the order of the archive. */
  entries: readonly ArchivedEntry[]
  /** Of `signedText(entries)`. */
  signature: Signature
}

/** What is signed: an entry a line, as `sha256sum` prints it but with the size. */
export function signedText(entries: readonly ArchivedEntry[]): string {
  return entries.map(({ path, bytes, sha256 }) => `${sha256} ${bytes} ${path}\n`).join('')
}

/** null: damaged. */
export function readChecksums(text: string): Checksums | null {
  return readFields(text, (fields) => {
    const signature = fieldsIn(fields, 'signature')
    return {
      entries: listIn(fields, 'entries', (each) => ({
        path: textIn(each, 'path'),
        bytes: countIn(each, 'bytes'),
        sha256: textIn(each, 'sha256'),
      })),
      signature: { keyId: textIn(signature, 'keyId'), mac: textIn(signature, 'mac') },
    }
  })
}
