/**
 * Padded base64 of base64 without padding, as PHC strings have it; null unless it is the one text for its bytes, and for
 * another number of bytes. A text that has spare bits set would never match what is computed.
 */
export function readBase64(text: string, leastBytes: number, mostBytes: number): string | null {
  const bytes = Buffer.from(text, 'base64')
  const padded = bytes.toString('base64')
  if (bytes.length < leastBytes || bytes.length > mostBytes) return null
  return padded.replace(/=+$/, '') === text ? padded : null
}

export function byteLength(base64: string): number {
  return Buffer.byteLength(base64, 'base64')
}
