import { type IncomingMessage, type Server, STATUS_CODES } from 'node:http'
import type { Duplex } from 'node:stream'
import type { HttpResponse } from '../../http/message.js'
import type { Handle, Pass, Verdict, Watch } from '../../http/verdict.js'
import { decide, type Emit } from '../adapter.js'
import { dressRequest, readRequest } from './message.js'

/** What node's server tells of an upgrade: the request, its socket, and the first bytes behind the request. */
export type UpgradeArguments = [request: IncomingMessage, socket: Duplex, head: Buffer]

/**
 * Puts the layer before whoever takes upgrades (WebSockets) on that server, from whenever on. What is refused is answered
 * on the socket, which ends; what passes is closed as soon as its principal may be here no more. Requests for which one was
 * found are `known` from then on: their API token is out of the address, so nobody could find it again.
 */
export function guardUpgrades(
  server: Pick<Server, 'emit'>,
  handle: Handle,
  watch: Watch,
  known?: WeakSet<IncomingMessage>,
): void {
  const emit: Emit = server.emit
  server.emit = (event: string, ...given: unknown[]): boolean => {
    if (event !== 'upgrade' || !isUpgrade(given)) return emit.call(server, event, ...given)
    const [request, socket] = given
    // Until somebody has taken it, a socket that breaks would break the process.
    const ignore = () => {}
    socket.on('error', ignore)
    const verdict = decide((message: Parameters<Handle>[0]) => handle(message), readRequest(request), null)
    const settle = (settled: Verdict) => {
      const admitted = admit(settled, request, socket, watch)
      if (admitted === null) return
      if (admitted.principal !== null) known?.add(request)
      socket.off('error', ignore)
      emit.call(server, event, ...given)
    }
    if ('then' in verdict) void verdict.then(settle)
    else settle(verdict)
    return true
  }
}

/** Makes the request what the application is to see, and its socket one that closes in time. Null: refused and answered. */
export function admit(verdict: Verdict, request: IncomingMessage, socket: Duplex, watch: Watch): Pass | null {
  if (verdict.kind === 'answer') refuseUpgrade(socket, verdict.response)
  if (verdict.kind === 'answer' || socket.destroyed) return null
  dressRequest(request, verdict)
  if (verdict.principal !== null)
    socket.once(
      'close',
      watch(verdict.principal, () => socket.destroy()),
    )
  return verdict
}

/** Answers on a socket that has no response of node's, and ends it. */
export function refuseUpgrade(socket: Duplex, { status, headers, body }: HttpResponse): void {
  const bytes = Buffer.from(body ?? '')
  const fields = { ...headers, connection: 'close', 'content-length': String(bytes.length) }
  const lines = Object.entries(fields).flatMap(([name, value]) => [value].flat().map((one) => `${name}: ${one}`))
  const isSafe = lines.every((line) => !/[^\t\x20-\x7e]/.test(line))
  if (!socket.writable || !isSafe) return void socket.destroy()
  socket.end(
    Buffer.concat([
      Buffer.from(`HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}\r\n${lines.join('\r\n')}\r\n\r\n`),
      bytes,
    ]),
  )
  socket.once('finish', () => socket.destroy())
}

function isUpgrade(given: readonly unknown[]): given is UpgradeArguments {
  return given.length >= 2
}
