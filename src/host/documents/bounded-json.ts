export interface JsonBounds {
  /** How many objects and lists may be open at once. */
  depth: number
  /** How many objects, lists and commas the text may hold. Each becomes an object that is larger than its text. */
  parts: number
}

const [quote, backslash, comma] = [0x22, 0x5c, 0x2c]
const [openList, closeList, openObject, closeObject] = [0x5b, 0x5d, 0x7b, 0x7d]

/**
 * Whether a JSON text stays within the bounds. It reads the text once and builds nothing, so a hostile text costs no memory.
 * The parser, not this function, decides whether the text is JSON.
 */
export function isWithinBounds(text: string, bounds: JsonBounds): boolean {
  let depth = 0
  let parts = 0
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at)
    if (code === quote) {
      at = endOfString(text, at + 1)
    } else if (code === openObject || code === openList) {
      depth += 1
      parts += 1
      if (depth > bounds.depth || parts > bounds.parts) return false
    } else if (code === closeObject || code === closeList) {
      depth -= 1
    } else if (code === comma) {
      parts += 1
      if (parts > bounds.parts) return false
    }
  }
  return true
}

/** Where the quote stands that ends a string, or the end of the text. */
function endOfString(text: string, from: number): number {
  for (let at = from; at < text.length; at += 1) {
    const code = text.charCodeAt(at)
    if (code === quote) return at
    if (code === backslash) at += 1
  }
  return text.length
}
