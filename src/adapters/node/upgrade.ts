import { type IncomingMessage, type Server, STATUS_CODES } from 'node:http'
import type { Duplex } from 'node:stream'
import type { HttpResponse } from '../../http/message.js'
import type { Handle, Pass, Verdict, Watch } from '../../http/verdict.js'
import { decide, type Emit } from '../adapter.js'
import { wholeIn } from './answer.js'
import { dressRequest } from './headers.js'
import { readRequest } from './message.js'

/** The arguments of Node's `upgrade` and `connect` events: the request, its socket, and the first bytes after the request. */
export type UpgradeArguments = [request: IncomingMessage, socket: Duplex, head: Buffer]

/**
 * Guards upgrades (WebSockets) before every `upgrade` listener of the server, including those added later, and tunnels
 * (CONNECT) before every `connect` listener: their target has no path, so they always need a principal. A refused upgrade gets
 * its response on the socket, which closes. An open socket closes when the principal's session or token ends.
 *
 * `known` collects requests with a principal: their API token is no longer in the URL, so it could not be found again.
 */
export function guardUpgrades(
  server: Pick<Server, 'emit'>,
  handle: Handle,
  watch: Watch,
  known?: WeakSet<IncomingMessage>,
): void {
  const emit: Emit = server.emit
  server.emit = (event: string, ...given: unknown[]): boolean => {
    if ((event !== 'upgrade' && event !== 'connect') || !isUpgrade(given)) return emit.call(server, event, ...given)
    const [request, socket] = given
    // A socket error without a listener would end the process.
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

/** Prepares the request for the application, and closes its socket when the principal's session ends. Null: refused. */
export function admit(verdict: Verdict, request: IncomingMessage, socket: Duplex, watch: Watch): Pass | null {
  if (verdict.kind === 'answer') refuseUpgrade(socket, verdict.response)
  if (verdict.kind === 'answer' || socket.destroyed) return null
  dressRequest(request, verdict)
  if (verdict.principal !== null) {
    const endWatch = watch(verdict.principal, () => socket.destroy())
    socket.once('close', endWatch)
  }
  return verdict
}

/** Writes a response to a socket for which Node made no `ServerResponse`, and ends the socket. */
export function refuseUpgrade(socket: Duplex, { status, headers, body }: HttpResponse): void {
  const bytes = Buffer.from(wholeIn(body))
  const fields = { ...headers, connection: 'close', 'content-length': String(bytes.length) }
  const lines = Object.entries(fields).flatMap(([name, value]) => [value].flat().map((one) => `${name}: ${one}`))
  const isSafe = lines.every((line) => !/[^\t\x20-\x7e]/.test(line))
  if (!socket.writable || !isSafe) return void socket.destroy()
  const head = `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}\r\n${lines.join('\r\n')}\r\n\r\n`
  socket.end(Buffer.concat([Buffer.from(head), bytes]))
  socket.once('finish', () => socket.destroy())
}

function isUpgrade(given: readonly unknown[]): given is UpgradeArguments {
  return given.length >= 2
}
