/** How a file writes its lines. New ones are written alike. */
export interface Style {
  eol: '\n' | '\r\n'
  quote: "'" | '"'
  semicolon: ';' | ''
}

export function styleOf(text: string): Style {
  const double = text.match(/(?:from\s*|require\(\s*)"/g)?.length ?? 0
  const single = text.match(/(?:from\s*|require\(\s*)'/g)?.length ?? 0
  return {
    eol: eolOf(text),
    quote: double > single ? '"' : "'",
    semicolon: /;[^\S\n]*\r?$/m.test(text) ? ';' : '',
  }
}

/** The line break that most lines of a text have. */
function eolOf(text: string): '\n' | '\r\n' {
  const breaks = text.match(/\n/g)?.length ?? 0
  const carriageReturns = text.match(/\r\n/g)?.length ?? 0
  return carriageReturns * 2 > breaks ? '\r\n' : '\n'
}

/** A text with further lines at its end. */
export function appendLines(text: string, lines: readonly string[]): string {
  const eol = eolOf(text)
  const gap = text === '' || text.endsWith('\n') ? '' : eol
  return `${text}${gap}${lines.map((line) => `${line}${eol}`).join('')}`
}
