import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'
import { onTestFinished } from 'vitest'

/** A way to a server of this machine that can be blocked as networks do it: nothing is closed, nothing gets through. */
export interface TcpProxy {
  port: number
  block(): void
  unblock(): void
  /** How many have connected so far. */
  connections(): number
}

export async function startTcpProxy(target: number): Promise<TcpProxy> {
  let blocked = false
  let count = 0
  const sockets = new Set<Socket>()
  const server = createServer((from) => {
    count += 1
    const to = connect(target, '127.0.0.1')
    for (const [one, other] of [
      [from, to],
      [to, from],
    ] as const) {
      sockets.add(one)
      one.on('data', (chunk) => void (blocked || other.write(chunk)))
      one.on('close', () => {
        sockets.delete(one)
        other.destroy()
      })
      one.on('error', () => {})
    }
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  const address = server.address()
  if (typeof address !== 'object' || address === null) throw new Error('No port')
  return {
    port: address.port,
    block() {
      blocked = true
    },
    unblock() {
      blocked = false
    },
    connections: () => count,
  }
}
