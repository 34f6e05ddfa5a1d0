const [newline, carriageReturn] = [0x0a, 0x0d]

/** Which line of a text a byte is on, for a reader that goes forward. `\n`, `\r\n` and `\r` end a line. */
export interface LineBreaks {
  /** The next bytes of the text. */
  add(bytes: Uint8Array): void
  /** The line from 1. Offsets never go back. */
  lineAt(offset: number): number
}

export function createLineBreaks(): LineBreaks {
  /** Where lines begin that were not passed yet. */
  let starts: number[] = []
  let passed = 0
  let line = 1
  let length = 0
  let endsWithReturn = false
  return {
    add(bytes) {
      for (const [index, byte] of bytes.entries()) {
        const isSecondOfTwo = byte === newline && (index === 0 ? endsWithReturn : bytes[index - 1] === carriageReturn)
        if (isSecondOfTwo) starts[starts.length - 1] = length + index + 1
        else if (byte === newline || byte === carriageReturn) starts.push(length + index + 1)
      }
      length += bytes.length
      if (bytes.length > 0) endsWithReturn = bytes.at(-1) === carriageReturn
    },
    lineAt(offset) {
      while ((starts[passed] ?? Number.POSITIVE_INFINITY) <= offset) {
        passed += 1
        line += 1
      }
      if (passed > 10_000) {
        starts = starts.slice(passed)
        passed = 0
      }
      return line
    },
  }
}
