import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { Serve } from './exchange/application.js'
import { problem, sendProblem } from './exchange/problem.js'
import { decodePrincipal, healthPath, hopHeader, isSame, nonceHeader, principalHeader, signNonce } from './hop.js'

interface ServerOptions {
  serve: Serve
  hopKey: string
  /** Of the release, for `/health`. */
  hash: string
  headerBytes: number
}

/**
 * The child's side of the hop. A request without the hop key is 403: under the permission model every process of the same user
 * may connect to any unix socket.
 */
export function createChildServer(options: ServerOptions): Server {
  // The application's own clock ends requests; Node's would cut uploads off after 5 minutes.
  const server = createServer({ maxHeaderSize: options.headerBytes, requestTimeout: 0 }, (raw, out) => {
    answer(options, raw, out)
  })
  // The front bounds the size of headers. Beyond a number, Node would refuse the request or leave headers unread.
  server.maxHeadersCount = 0
  server.on('upgrade', (_raw, socket) => {
    const { headers, text } = problem('not_here', undefined)
    const all = { ...headers, 'content-length': Buffer.byteLength(text), connection: 'close' }
    const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`)
    socket.on('error', () => {})
    socket.end(`HTTP/1.1 501 Not Implemented\r\n${lines.join('')}\r\n${text}`)
  })
  return server
}

function answer({ serve, hopKey, hash }: ServerOptions, raw: IncomingMessage, out: ServerResponse): void {
  const nonce = raw.headers[nonceHeader]
  if (raw.url === healthPath && typeof nonce === 'string') return void answerHealth(out, hash, signNonce(hopKey, nonce))
  if (!isSame(raw.headers[hopHeader], hopKey)) return void sendProblem(out, problem('forbidden', undefined))
  try {
    void serve(raw, out, decodePrincipal(raw.headers[principalHeader]))
  } catch {
    // The front writes this header readably, so another process has sent this one.
    sendProblem(out, problem('forbidden', undefined))
  }
}

/** The signature proves to the front that this child has the hop key. Before that the front sends nothing that is secret. */
function answerHealth(out: ServerResponse, hash: string, signature: string): void {
  const text = JSON.stringify({ hash, signature })
  out.writeHead(200, { 'content-type': 'application/json', 'cache-control': 'no-store' }).end(text)
}
