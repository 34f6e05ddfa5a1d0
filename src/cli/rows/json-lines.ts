import { mostRowBytes, type Row, tooLong } from './row.js'

const newline = 0x0a
const blank = /^[ \t\r]*$/

/** The lines of JSONL as they are; empty ones are left out. The host judges what they hold. */
export async function* readJsonLines(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<Row> {
  let begun: Uint8Array[] = []
  let size = 0
  let line = 0
  const take = (part: Uint8Array) => {
    size += part.length
    if (size > mostRowBytes) begun = []
    else begun.push(part)
  }
  const finish = (): Row | null => {
    line += 1
    const [first = Buffer.alloc(0)] = begun
    const json = begun.length === 1 ? first : Buffer.concat(begun)
    const isTooLong = size > mostRowBytes
    begun = []
    size = 0
    if (isTooLong) return { line, fault: tooLong, isLast: false }
    return json.length < 100 && blank.test(Buffer.from(json).toString('latin1')) ? null : { line, json }
  }
  for await (const piece of bytes) {
    let from = 0
    for (let end = piece.indexOf(newline); end !== -1; end = piece.indexOf(newline, from)) {
      take(piece.subarray(from, end))
      from = end + 1
      const row = finish()
      if (row !== null) yield row
    }
    if (from < piece.length) take(piece.subarray(from))
  }
  const last = size > 0 ? finish() : null
  if (last !== null) yield last
}
