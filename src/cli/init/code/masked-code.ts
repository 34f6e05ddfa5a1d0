const plain = /\/\/[^\n]*|\/\*[\s\S]*?(?:\*\/|$)|'(?:\\[\s\S]|[^'\\\n])*'|"(?:\\[\s\S]|[^"\\\n])*"/y
const regularExpression = /\/(?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\[\n])+\/[a-z]*/y
/** After a value, a slash divides. After anything else, it begins a regular expression. */
const value = /[\w$)\]'"`]\s*$/
const keyword = /(?<![\w$.])(?:return|typeof|case|in|of|delete|void|throw|new|else|do|await|yield)\s*$/

/**
 * A program of the same length in which comments, regular expressions and the insides of strings and templates are blank. So
 * what a search finds in it is code. Lines and quotes stay where they are.
 */
export function maskCode(text: string): string {
  const pieces: string[] = []
  let at = 0
  while (at < text.length) {
    const end = literalEnd(text, at)
    pieces.push(end === at ? text.charAt(at) : blank(text.slice(at, end)))
    at = end === at ? at + 1 : end
  }
  return pieces.join('')
}

/** How many brackets are open before a place of a masked program. */
export function depthAt(masked: string, place: number): number {
  let depth = 0
  for (const character of masked.slice(0, place)) {
    if ('{(['.includes(character)) depth += 1
    if ('})]'.includes(character)) depth -= 1
  }
  return depth
}

/** The end of the bracket that opens at this place of a masked program; null when it stays open. */
export function closingEnd(masked: string, open: number): number | null {
  let depth = 0
  for (let at = open; at < masked.length; at += 1) {
    if ('{(['.includes(masked.charAt(at))) depth += 1
    if ('})]'.includes(masked.charAt(at))) depth -= 1
    if (depth === 0) return at + 1
  }
  return null
}

/** The end of the comment, string, template or regular expression that begins here; the place itself when none does. */
function literalEnd(text: string, at: number): number {
  const character = text.charAt(at)
  if (character === '`') return templateEnd(text, at)
  if (character !== '/' && character !== "'" && character !== '"') return at
  const end = matchEnd(plain, text, at)
  if (end !== at || character !== '/') return end
  const before = text.slice(Math.max(0, at - 40), at)
  return value.test(before) && !keyword.test(before) ? at : matchEnd(regularExpression, text, at)
}

function templateEnd(text: string, start: number): number {
  let at = start + 1
  while (at < text.length) {
    if (text.charAt(at) === '`') return at + 1
    if (text.startsWith('${', at)) at = substitutionEnd(text, at + 2)
    else at += text.charAt(at) === '\\' ? 2 : 1
  }
  return text.length
}

function substitutionEnd(text: string, start: number): number {
  let depth = 1
  let at = start
  while (at < text.length && depth > 0) {
    const end = literalEnd(text, at)
    if (end === at && text.charAt(at) === '{') depth += 1
    if (end === at && text.charAt(at) === '}') depth -= 1
    at = end === at ? at + 1 : end
  }
  return at
}

function matchEnd(pattern: RegExp, text: string, at: number): number {
  // A copy, because a sticky expression keeps its place between calls.
  const sticky = new RegExp(pattern)
  sticky.lastIndex = at
  return at + (sticky.exec(text)?.[0].length ?? 0)
}

function blank(literal: string): string {
  const hidden = literal.replace(/[^\r\n]/g, ' ')
  const quote = literal.charAt(0)
  if (quote === '/') return hidden
  const isClosed = literal.length > 1 && literal.endsWith(quote)
  return isClosed ? `${quote}${hidden.slice(1, -1)}${quote}` : `${quote}${hidden.slice(1)}`
}
