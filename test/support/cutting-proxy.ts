import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'

/** A TCP proxy in front of a server on loopback that loses connections, or bytes, when the test says so. */
export interface CuttingProxy {
  port: number
  /**
   * Cuts the connections of the next `times` messages of clients that contain this text: `before` the server hears of it,
   * or once the server has answered, so that only the answer is lost.
   */
  cut(text: string, when: 'before' | 'after', times?: number): void
  /** Lets the next message of a client that contains this text get lost, and nothing else; resolves when it has. */
  swallow(text: string): Promise<void>
  /** How many of them were cut since then. */
  readonly cuts: number
  /** Bytes go nowhere until `thaw`, and no connection ends: a network that is gone. */
  freeze(): void
  thaw(): void
  /** Ends all connections and listens no more, until `listen`. */
  stop(): Promise<void>
  listen(): Promise<void>
  close(): Promise<void>
}

export async function startCuttingProxy(target: { host: string; port: number }): Promise<CuttingProxy> {
  const sockets = new Set<Socket>()
  let plan = { text: '', when: 'before' as 'before' | 'after', times: 0 }
  let swallowing: { text: string; done(): void } | null = null
  let cuts = 0
  let frozen = false

  function track(socket: Socket): Socket {
    sockets.add(socket)
    socket.on('error', () => {})
    socket.on('close', () => sockets.delete(socket))
    if (frozen) socket.pause()
    return socket
  }

  function isDue(chunk: Buffer): boolean {
    if (plan.times === 0 || !chunk.toString('latin1').includes(plan.text)) return false
    plan.times -= 1
    cuts += 1
    return true
  }

  const server = createServer((client) => {
    const upstream = track(connect(target))
    track(client)
    let answered = (chunk: Buffer): void => void client.write(chunk)
    function end(): void {
      client.resetAndDestroy()
      upstream.destroy()
    }
    client.on('data', (chunk) => {
      if (swallowing && chunk.toString('latin1').includes(swallowing.text)) {
        swallowing.done()
        swallowing = null
        return
      }
      if (!isDue(chunk)) return void upstream.write(chunk)
      if (plan.when === 'before') return end()
      answered = end
      upstream.write(chunk)
    })
    upstream.on('data', (chunk) => answered(chunk))
    client.on('close', () => upstream.destroy())
    upstream.on('close', () => client.destroy())
  })

  async function listen(port: number): Promise<void> {
    server.listen(port, '127.0.0.1')
    await once(server, 'listening')
  }
  async function stop(): Promise<void> {
    if (!server.listening) return
    const closed = once(server, 'close')
    server.close()
    for (const socket of sockets) socket.destroy()
    await closed
  }

  await listen(0)
  const { port } = server.address() as AddressInfo
  return {
    port,
    cut(text, when, times = 1) {
      plan = { text, when, times }
      cuts = 0
    },
    swallow: (text) =>
      new Promise((done) => {
        swallowing = { text, done }
      }),
    get cuts() {
      return cuts
    },
    freeze() {
      frozen = true
      for (const socket of sockets) socket.pause()
    },
    thaw() {
      frozen = false
      for (const socket of sockets) socket.resume()
    },
    stop,
    listen: () => listen(port),
    close: stop,
  }
}
