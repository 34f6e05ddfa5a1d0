import { createServer, type IncomingHttpHeaders, type OutgoingHttpHeaders, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { onTestFinished } from 'vitest'

/** How a proxy differs from a sound one. */
export interface ProxyFaults {
  /** Changes the headers that go to the application. `client` is the address of the caller. */
  toServer?(headers: IncomingHttpHeaders, client: string): void
  /** Changes the headers that go to the browser. */
  toBrowser?(headers: OutgoingHttpHeaders): void
  /** Paths that it does not forward. */
  blocks?(path: string): boolean
}

/** Where the proxy comes from. The tool comes from 127.0.0.1. */
export const proxyAddress = '127.0.0.9'

/** A real reverse proxy on loopback. A sound one appends the client to X-Forwarded-For and names host and scheme. */
export async function startWebProxy(target: number, faults: ProxyFaults = {}): Promise<{ port: number }> {
  const server = createServer((incoming, outgoing) => {
    const path = incoming.url ?? '/'
    if (faults.blocks?.(path)) return void outgoing.writeHead(404).end('Not found')
    const client = incoming.socket.remoteAddress ?? ''
    const headers = { ...incoming.headers }
    headers['x-forwarded-for'] = [headers['x-forwarded-for'] ?? [], client].flat().join(', ')
    headers['x-forwarded-proto'] = 'https'
    faults.toServer?.(headers, client)
    const forwarded = request(
      { host: '127.0.0.1', localAddress: proxyAddress, port: target, method: incoming.method, path, headers },
      (answer) => {
        const back: OutgoingHttpHeaders = { ...answer.headers }
        faults.toBrowser?.(back)
        outgoing.writeHead(answer.statusCode ?? 502, back)
        answer.pipe(outgoing)
      },
    )
    forwarded.on('error', () => void outgoing.writeHead(502).end())
    incoming.pipe(forwarded)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return { port: (server.address() as AddressInfo).port }
}
