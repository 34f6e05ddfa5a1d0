/**
 * The text that every match of a regular expression begins with, as far as it can be read without understanding the whole:
 * `^text`, or `^(?=text)`, into which `$startsWith` is translated. Empty when the expression has no such beginning.
 */
export function anchoredText(pattern: unknown, flags: unknown): string {
  const expression = compiled(pattern, flags)
  if (expression === null || expression.ignoreCase || expression.multiline) return ''
  const { source } = expression
  // An alternative may begin with another text.
  if (source.replaceAll(/\\./gs, '').includes('|')) return ''
  const [start = '', literal = ''] =
    /^\^(?:\(\?=)?((?:[^\\^$.*+?()[\]{}|\ud800-\uffff]|\\[^\w\s\u0080-\uffff])*)/.exec(source) ?? []
  const rest = source.slice(start.length)
  // A look-ahead counts only when it is all literal and not repeated.
  if (start.startsWith('^(?=') && !/^\)(?![*+?{])/.test(rest)) return ''
  const text = literal.replaceAll(/\\(.)/gs, '$1')
  return /^[*+?{]/.test(rest) ? text.slice(0, -1) : text
}

function compiled(pattern: unknown, flags: unknown): RegExp | null {
  if (flags !== undefined && typeof flags !== 'string') return null
  return typeof pattern === 'string' || pattern instanceof RegExp ? new RegExp(pattern, flags) : null
}
