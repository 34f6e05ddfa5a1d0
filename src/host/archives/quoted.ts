import { oneLine } from '../../lib/one-line.js'

/** A path of the archive as it may stand in a sentence: on one line, cut at 100 characters. */
export function quoted(path: string): string {
  const line = oneLine(path)
  return `"${line.length > 100 ? `${line.slice(0, 100)}…` : line}"`
}
