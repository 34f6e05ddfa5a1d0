import { once } from 'node:events'
import { Readable } from 'node:stream'
import type { AppResponse } from '../exchange/response.js'

/** What `getMany` and `getAll` return: a stream of rows with `toArray`, `forEach` and `json`. */
export interface RowStream extends Readable {
  /** Answers with all rows as a JSON array, streamed. */
  json(res: AppResponse): Promise<void>
}

/** Reads nothing before it has a listener. A fault without a listener is logged and does not end the process. */
export function createRowStream(rows: AsyncGenerator<unknown, void, undefined>): RowStream {
  const stream = Readable.from(rows)
  // biome-ignore lint/suspicious/noConsole: it is the log of the application
  stream.on('error', (error) => console.error(error))
  return Object.assign(stream, { json: (res: AppResponse) => writeJson(stream, res) })
}

async function writeJson(stream: Readable, res: AppResponse): Promise<void> {
  const { writable: out } = res
  let count = 0
  for await (const row of stream) {
    if (count === 0) begin(res)
    const text = `${count === 0 ? '' : ',\n'}${JSON.stringify(row)}`
    count += 1
    if (!out.writableEnded && !out.destroyed && !out.write(text)) await drained(out)
    if (out.destroyed) return
  }
  if (count === 0) begin(res)
  res.end('\n]')
}

/** Called with the first row, so that a fault of the query before it has a status of its own. */
function begin(res: AppResponse): void {
  res.set('content-type', 'application/json')
  res.write('[\n')
}

/** Resolves when the client takes more, and when it has left. */
async function drained(out: AppResponse['writable']): Promise<void> {
  const abort = new AbortController()
  const { signal } = abort
  await Promise.race([once(out, 'drain', { signal }), once(out, 'close', { signal })]).catch(() => {})
  abort.abort()
}
