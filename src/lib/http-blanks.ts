/**
 * The text without the blanks of HTTP at its ends: SP and HTAB (RFC 9110 §5.6.3). `trim()` also removes U+00A0, VT and others,
 * which HTTP and browsers take for a part of the value. A loop, because a pattern takes quadratic time on blanks in the middle.
 *
 * @example trimBlanks(' a ') // 'a'
 */
export function trimBlanks(text: string): string {
  let start = 0
  let end = text.length
  while (start < end && isBlank(text.charCodeAt(start))) start += 1
  while (end > start && isBlank(text.charCodeAt(end - 1))) end -= 1
  return text.slice(start, end)
}

function isBlank(code: number): boolean {
  return code === 0x20 || code === 0x09
}
