import { isUtf8 } from 'node:buffer'

/**
 * Makes a function that reads the text which base64url stands for. Null for what is not how base64url writes it, so that no
 * text has two spellings (RFC 4648 §3.5), and where the bytes are no UTF-8.
 *
 * All are read into the same bytes, in one step: to come by new ones takes longer than to fill them.
 *
 * @param longest characters in base64url; what is longer is null
 * @example
 * const read = createBase64urlReader(4096)
 * read('e30') // '{}'
 */
export function createBase64urlReader(longest: number): (text: string) => string | null {
  const bytes = Buffer.alloc(longest)
  return (text) => {
    if (text.length > longest) return null
    const count = bytes.write(text, 'base64url')
    if (!isCanonical(text, count)) return null
    const read = bytes.toString('utf8', 0, count)
    // What is no UTF-8 is read as U+FFFD, which may also stand there itself.
    return read.includes('\ufffd') && !isUtf8(bytes.subarray(0, count)) ? null : read
  }
}

/**
 * Whether a text is how base64url writes the bytes that it was read as, so that those have no other spelling (RFC 4648 §3.5).
 *
 * Node reads more than that: it passes over what is no letter, takes `+` and `/`, cuts U+0141 down to an `A`, and drops bits
 * that are left over. What it passes over shows in the count of bytes, so writing them anew, which takes longer than reading,
 * is not needed.
 *
 * Of `QQ`, `QR`, `QQ==` and `Q Q`, which are all read as one byte, it is the first.
 */
function isCanonical(text: string, byteCount: number): boolean {
  if (byteCount !== Math.floor((text.length * 3) / 4) || text.includes('+') || text.includes('/')) return false
  if (Buffer.byteLength(text) !== text.length) return false
  const left = text.length % 4
  return left === 0 || (lastLetters[left]?.includes(text.at(-1) ?? '') ?? false)
}

/** After so many letters over, those that end in four, or in two, bits of zero. */
const lastLetters: Readonly<Record<number, string>> = { 2: 'AQgw', 3: 'AEIMQUYcgkosw048' }
