import { AuthError } from '../../errors.js'

const newline = 0x0a
const carriageReturn = 0x0d

/**
 * The lines of a body that comes in pieces, without their ends; the last one needs none. null: a line that is not UTF-8.
 *
 * @param longestBytes of one line
 * @throws {AuthError} `payload_too_large` for a longer line, and what the pieces throw
 */
export async function* readLines(
  pieces: AsyncIterable<Uint8Array>,
  longestBytes: number,
): AsyncGenerator<string | null> {
  let begun: Uint8Array[] = []
  let size = 0
  const take = (bytes: Uint8Array) => {
    size += bytes.length
    if (size > longestBytes) throw new AuthError('payload_too_large', { detail: 'A line is too long.' })
    begun.push(bytes)
  }
  const finish = () => {
    const line = Buffer.concat(begun)
    begun = []
    size = 0
    return decoded(line.at(-1) === carriageReturn ? line.subarray(0, -1) : line)
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

function decoded(bytes: Uint8Array): string | null {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch {
    return null
  }
}
