/** Rows in one write. */
const batchSize = 200

/** Rows that are counted as they pass. */
export interface CountedRows extends AsyncIterable<string> {
  count(): number
  onCount(report: (count: number) => void): void
}

export function counted(rows: AsyncIterable<string>): CountedRows {
  let count = 0
  let report: (count: number) => void = () => {}
  return {
    count: () => count,
    onCount(given) {
      report = given
    },
    async *[Symbol.asyncIterator]() {
      for await (const row of rows) {
        count += 1
        if (count % batchSize === 0) report(count)
        yield row
      }
    },
  }
}

/** JSONL, many lines at once. */
export async function* jsonLines(rows: AsyncIterable<string>): AsyncGenerator<string> {
  for await (const batch of batches(rows)) yield batch.map((row) => `${row}\n`).join('')
}

/** A JSON array. It ends with its bracket only when the rows are whole. */
export async function* jsonArray(rows: AsyncIterable<string>, isPretty: boolean): AsyncGenerator<string> {
  let separator = '\n'
  yield '['
  for await (const row of rows) {
    yield `${separator}${isPretty ? pretty(row) : row}`
    separator = ',\n'
  }
  yield separator === '\n' ? ']\n' : '\n]\n'
}

function pretty(row: string): string {
  const lines = JSON.stringify(JSON.parse(row), null, 2).split('\n')
  return lines.map((line) => `  ${line}`).join('\n')
}

async function* batches(rows: AsyncIterable<string>): AsyncGenerator<string[]> {
  let batch: string[] = []
  for await (const row of rows) {
    batch.push(row)
    if (batch.length < batchSize) continue
    yield batch
    batch = []
  }
  if (batch.length > 0) yield batch
}
