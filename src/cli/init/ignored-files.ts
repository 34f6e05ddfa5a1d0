import { appendLines } from './code/lines.js'

/** What must not get into a repository: the secrets, and the database of development. */
const wanted = [
  { line: '.env', covers: /^\/?(?:\*\*\/)?(?:\.env\*?|\.env\.?\*|\*\.env)$/ },
  { line: 'latchkey.db*', covers: /^\/?(?:\*\*\/)?(?:latchkey\.db\*|\*\.db\*)$/ },
]

/** `.gitignore` with the lines that it lacks; the text itself when it has them. */
export function ignoreFiles(text: string): string {
  const lines = text.split(/\r?\n/).map((line) => line.trim())
  const missing = wanted.filter(({ covers }) => {
    // The last line about a file counts, and `!` takes it back.
    const last = lines.findLast((line) => covers.test(line.replace(/^!/, '')))
    return last === undefined || last.startsWith('!')
  })
  return missing.length > 0
    ? appendLines(
        text,
        missing.map(({ line }) => line),
      )
    : text
}
