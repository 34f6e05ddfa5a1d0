/** How a stream of bytes becomes lines. */
interface LineRules {
  /** Of one line, in bytes. What is beyond is thrown away and counted. */
  lineBytes: number
  /** A whole line and how many bytes of it are missing at its end. */
  onLine(line: string, missingBytes: number): void
}

/** Joins chunks to lines and holds at most one line. */
export interface LineReader {
  take(chunk: Buffer): void
  /** What has no line end yet becomes a line. */
  end(): void
}

const lineEnd = 10

export function createLineReader({ lineBytes, onLine }: LineRules): LineReader {
  let parts: Buffer[] = []
  let held = 0
  let missing = 0

  function add(piece: Buffer): void {
    const room = lineBytes - held
    // Copied, because a piece would keep its whole chunk in memory.
    if (room > 0 && piece.length > 0) parts.push(Buffer.from(piece.subarray(0, room)))
    held += Math.min(room, piece.length)
    missing += Math.max(0, piece.length - room)
  }

  function finish(): void {
    const text = Buffer.concat(parts).toString()
    const lost = missing
    parts = []
    held = 0
    missing = 0
    onLine(text.endsWith('\r') ? text.slice(0, -1) : text, lost)
  }

  return {
    take(chunk) {
      let start = 0
      for (let end = chunk.indexOf(lineEnd); end !== -1; end = chunk.indexOf(lineEnd, start)) {
        add(chunk.subarray(start, end))
        finish()
        start = end + 1
      }
      add(chunk.subarray(start))
    },
    end() {
      if (held > 0) finish()
    },
  }
}
