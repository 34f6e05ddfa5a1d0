/**
 * Whether a text is how base64url writes the bytes that it was read as, so that those have no other spelling (RFC 4648 §3.5).
 *
 * Node reads more than that: it passes over what is no letter, takes `+` and `/`, cuts U+0141 down to an `A`, and drops bits
 * that are left over. What it passes over shows in the count of bytes, so writing them anew, which takes longer than reading,
 * is not needed.
 *
 * @param byteCount what `Buffer.from(text, 'base64url')` made of it
 * @example isCanonicalBase64url('QQ', 1) // true; 'QR', 'QQ==' and 'Q Q' are read as the same byte
 */
export function isCanonicalBase64url(text: string, byteCount: number): boolean {
  if (byteCount !== Math.floor((text.length * 3) / 4) || text.includes('+') || text.includes('/')) return false
  if (Buffer.byteLength(text) !== text.length) return false
  const left = text.length % 4
  return left === 0 || (lastLetters[left]?.includes(text.at(-1) ?? '') ?? false)
}

/** After so many letters over, those that end in four, or in two, bits of zero. */
const lastLetters: Readonly<Record<number, string>> = { 2: 'AQgw', 3: 'AEIMQUYcgkosw048' }
