import { createHash } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/** A range API of breached passwords, on loopback, that behaves as the test says. */
export interface RangeServer {
  /** For `password.checkBreached`. */
  url: string
  /** What was asked for, as it came: the line and every header. */
  asked: { path: string; headers: IncomingMessage['headers'] }[]
  /** How it answers from now on. Default: with the ranges of `breached`. */
  answer: (response: ServerResponse, prefix: string) => void
  close(): Promise<void>
}

/** `breached`: passwords, and how often each was seen. */
export async function startRangeServer(breached: Readonly<Record<string, number>> = {}): Promise<RangeServer> {
  const asked: RangeServer['asked'] = []
  const lines = Object.entries(breached).map(([password, count]) => `${sha1(password)}:${count}`)
  const server = createServer((request, response) => {
    asked.push({ path: request.url ?? '', headers: request.headers })
    range.answer(response, (request.url ?? '').slice('/range/'.length))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo

  const range: RangeServer = {
    url: `http://127.0.0.1:${port}/range`,
    asked,
    answer: (response, prefix) => response.end(rangeOf(lines, prefix)),
    async close() {
      server.closeAllConnections()
      if (server.listening) await new Promise((resolve) => server.close(resolve))
    },
  }
  return range
}

/** As the public API writes it: CRLF between lines, and lines of 0 that only pad. */
function rangeOf(lines: readonly string[], prefix: string): string {
  const found = lines.filter((line) => line.startsWith(prefix)).map((line) => line.slice(prefix.length))
  const padding = Array.from({ length: 20 }, (_, index) => `${sha1(`padding ${index}`).slice(5)}:0`)
  return [...padding.slice(0, 10), ...found, ...padding.slice(10)].join('\r\n')
}

export function sha1(text: string): string {
  return createHash('sha1').update(text).digest('hex').toUpperCase()
}
