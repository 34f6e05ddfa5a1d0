import { isUtf8 } from 'node:buffer'

/**
 * Makes a function that decodes base64url into text. Null for a text in another than the canonical spelling, so that no text
 * has two spellings (RFC 4648 §3.5), and for bytes that are not UTF-8.
 *
 * All texts are decoded into the same buffer in one step, because allocating a buffer takes longer than filling it.
 *
 * @param longest characters in base64url; a longer text is null
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
    // Invalid UTF-8 decodes to U+FFFD, which valid text may contain as well.
    return read.includes('\ufffd') && !isUtf8(bytes.subarray(0, count)) ? null : read
  }
}

/**
 * Whether a text is the canonical base64url spelling of the bytes that node decoded from it (RFC 4648 §3.5).
 *
 * Node accepts more: it skips characters outside the alphabet, takes `+` and `/`, reads U+0141 as an `A`, and drops left-over
 * bits. Skipped characters show in the count of bytes, so the bytes need not be encoded again, which takes longer.
 *
 * Of `QQ`, `QR`, `QQ==` and `Q Q`, which all decode to the same byte, only the first is canonical.
 */
function isCanonical(text: string, byteCount: number): boolean {
  if (byteCount !== Math.floor((text.length * 3) / 4) || text.includes('+') || text.includes('/')) return false
  if (Buffer.byteLength(text) !== text.length) return false
  const left = text.length % 4
  return left === 0 || (lastLetters[left]?.includes(text.at(-1) ?? '') ?? false)
}

/** By the number of letters in the last group: the letters that end in four, or two, zero bits. */
const lastLetters: Readonly<Record<number, string>> = { 2: 'AQgw', 3: 'AEIMQUYcgkosw048' }

/** Whether a text is the canonical base64url spelling of any bytes. */
export function isCanonicalBase64url(text: string): boolean {
  return isCanonical(text, Buffer.from(text, 'base64url').length)
}
