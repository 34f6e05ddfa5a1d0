import { depthAt } from './masked-code.js'

/** A line that begins like this goes on with the statement before it, where that has no semicolon. */
const continues = /^\s*(?:[.([,?:=*/%<>&|^+`-]|instanceof\b|in\b)/
/** A line that ends like this does not end its statement. */
const isOpen = /(?:[,=+*/&|?:.(<>%^-]|\b(?:await|new|return|typeof))\s*$/

/**
 * The end of the last line of the statement that holds this place of a masked program, without its line break. Null when more
 * code follows on that line.
 */
export function statementEnd(masked: string, place: number): number | null {
  const depth = depthAt(masked, place)
  for (let end = lineEnd(masked, place); ; end = lineEnd(masked, end + 1)) {
    const before = masked.slice(place, end).trimEnd()
    const isLast = end >= masked.length
    const closed = depthAt(masked, end) === depth
    if (closed && before.endsWith(';')) return isSingle(before, depth, masked, place) ? end : null
    if (closed && !isOpen.test(before) && !continues.test(masked.slice(end))) {
      return isSingle(before, depth, masked, place) ? end : null
    }
    if (isLast || depthAt(masked, end) < depth) return null
  }
}

/** The place where the line of this place begins. */
export function lineStart(text: string, place: number): number {
  return text.lastIndexOf('\n', place - 1) + 1
}

export function lineEnd(text: string, place: number): number {
  const end = text.indexOf('\n', place)
  if (end === -1) return text.length
  return text.charAt(end - 1) === '\r' && end > place ? end - 1 : end
}

/** Whether no second statement follows a semicolon within these lines. */
function isSingle(code: string, depth: number, masked: string, place: number): boolean {
  const semicolons = [...code.slice(0, -1).matchAll(/;/g)].map(({ index }) => place + index)
  return semicolons.every((at) => depthAt(masked, at) > depth)
}
