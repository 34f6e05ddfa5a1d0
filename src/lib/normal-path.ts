/**
 * A path as everybody reads it: `%61` and `a` are one (RFC 3986 §6.2.2.2). Null when readers would differ on it: dots that
 * lead elsewhere, doubled, encoded or backward slashes, control characters, something encoded twice or not decodable.
 *
 * @example normalPath('/api/%61dmin') // '/api/admin'
 */
export function normalPath(path: string): string | null {
  const text = path.replaceAll(/%[\da-f]{2}/gi, (encoded) => {
    const character = String.fromCharCode(Number.parseInt(encoded.slice(1), 16))
    return /[\w.~-]/.test(character) ? character : encoded.toUpperCase()
  })
  if (!text.startsWith('/') || /\/\/|\/\.\.?(?:\/|$)|[\\;\p{Cc}]|%(?:25|2F|5C|3B|[01][\dA-F]|7F)/u.test(text))
    return null
  try {
    decodeURIComponent(text)
    return text
  } catch {
    return null
  }
}
