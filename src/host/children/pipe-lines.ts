import type { Readable } from 'node:stream'
import { parseJsonObject } from '../../lib/json-object.js'

/** What a child may send to its supervisor. */
const pipeLimits = { lineBytes: 4 * 1024, linesPerSecond: 50 }

interface PipeReader {
  /** Milliseconds from an arbitrary start. */
  monotonic(): number
  /** A line with a field `kind`. Lines of another form are ignored. */
  onMessage(kind: string, fields: Readonly<Record<string, unknown>>): void
  /** The child has broken a limit. Nothing is read from the pipe any more. */
  onFlood(): void
  onEnd(): void
}

/** Reads the lines of a child, which may be hostile: what is held of them stays below 70 KiB. */
export function readPipe(pipe: Readable, { monotonic, onMessage, onFlood, onEnd }: PipeReader): void {
  let rest = Buffer.alloc(0)
  let second = monotonic()
  let lines = 0

  function isTooMuch(bytes: number): boolean {
    if (monotonic() - second >= 1_000) [second, lines] = [monotonic(), 0]
    lines += 1
    return bytes > pipeLimits.lineBytes || lines > pipeLimits.linesPerSecond
  }

  function flood(): void {
    rest = Buffer.alloc(0)
    pipe.removeAllListeners('data')
    pipe.destroy()
    onFlood()
  }

  pipe.on('data', (chunk: Buffer) => {
    const bytes = Buffer.concat([rest, chunk])
    let start = 0
    for (let end = bytes.indexOf(10); end !== -1; end = bytes.indexOf(10, start)) {
      if (isTooMuch(end - start)) return flood()
      const fields = parseJsonObject(bytes.toString('utf8', start, end)) ?? {}
      if (typeof fields.kind === 'string') onMessage(fields.kind, fields)
      start = end + 1
    }
    rest = Buffer.from(bytes.subarray(start))
    if (rest.length > pipeLimits.lineBytes) flood()
  })
  // A child that dies while it is written to shows as an error.
  pipe.on('error', () => {})
  pipe.once('close', onEnd)
  pipe.once('end', onEnd)
}
