import { isUtf8 } from 'node:buffer'

const newline = 0x0a
const carriageReturn = 0x0d

export type Line = { text: string } | { fault: 'not_utf8' | 'too_long' }

/**
 * The lines of a body that comes in pieces, without their ends; the last one needs none. Of a line that is too long nothing is
 * kept, and the lines after it are read.
 *
 * @param longestBytes of one line
 * @throws what the pieces throw
 */
export async function* readLines(pieces: AsyncIterable<Uint8Array>, longestBytes: number): AsyncGenerator<Line> {
  let begun: Uint8Array[] = []
  let size = 0
  const take = (bytes: Uint8Array) => {
    size += bytes.length
    if (size > longestBytes) begun = []
    else begun.push(bytes)
  }
  const finish = (): Line => {
    const line: Line = size > longestBytes ? { fault: 'too_long' } : decoded(Buffer.concat(begun))
    begun = []
    size = 0
    return line
  }
  for await (const piece of pieces) {
    let from = 0
    for (let end = piece.indexOf(newline); end !== -1; end = piece.indexOf(newline, from)) {
      take(piece.subarray(from, end))
      yield finish()
      from = end + 1
    }
    take(piece.subarray(from))
  }
  if (size > 0) yield finish()
}

function decoded(line: Buffer): Line {
  const bytes = line.at(-1) === carriageReturn ? line.subarray(0, -1) : line
  return isUtf8(bytes) ? { text: bytes.toString() } : { fault: 'not_utf8' }
}
