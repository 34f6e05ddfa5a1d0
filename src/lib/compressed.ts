import { promisify } from 'node:util'
import { brotliCompress, gzip } from 'node:zlib'

/** Content codings that we send (RFC 9110 §8.4.1; brotli: RFC 7932). */
export type ContentCoding = 'br' | 'gzip'

const compressors: Readonly<Record<ContentCoding, (body: string | Uint8Array) => Promise<Uint8Array>>> = {
  br: promisify(brotliCompress),
  gzip: promisify(gzip),
}

/** Compresses a body at the first call for each coding, in a thread of Node's pool, and keeps the result. */
export function compressedOnce(body: string | Uint8Array): (coding: ContentCoding) => Promise<Uint8Array> {
  const made = new Map<ContentCoding, Promise<Uint8Array>>()
  return (coding) => {
    const known = made.get(coding) ?? compressors[coding](body)
    made.set(coding, known)
    return known
  }
}
