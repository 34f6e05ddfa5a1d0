import { once } from 'node:events'
import { Agent, createServer, get, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, onTestFinished, test, vi } from 'vitest'
import { createStopping } from '../../../src/host/sockets/stop.js'
import { createWorld } from '../../../src/lib/runtime.js'

const { timer } = createWorld()

async function serving() {
  const open: ServerResponse[] = []
  const server = createServer((_request, response) => void open.push(response))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  const { port } = server.address() as AddressInfo
  const agent = new Agent({ keepAlive: true })
  onTestFinished(() => agent.destroy())
  const ask = () =>
    new Promise<number>((resolve, reject) => {
      get({ port, host: '127.0.0.1', agent }, (response) => {
        response.resume().once('end', () => resolve(response.statusCode ?? 0))
        response.once('error', reject)
      }).once('error', reject)
    })
  return { server, open, ask }
}

test('requests are taken until proxies have noticed, and running ones are answered', async () => {
  const { server, open, ask } = await serving()
  const { isStopping, stop } = createStopping([server], timer, { noticeMs: 150, drainMs: 60_000 })
  expect(isStopping()).toBe(false)
  const stopped = stop()
  expect(isStopping()).toBe(true)
  expect(stop()).toBe(stopped)
  const late = ask()
  await vi.waitFor(() => expect(server.listening).toBe(false))
  await expect(ask()).rejects.toThrow('ECONNREFUSED')
  open[0]?.end()
  expect(await late).toBe(200)
  // The client keeps its connection; the server does not.
  await stopped
})

test('a request that does not end is cut off', async () => {
  const { server, open, ask } = await serving()
  const running = ask()
  const cut = expect(running).rejects.toThrow()
  await vi.waitFor(() => expect(open).toHaveLength(1))
  await createStopping([server], timer, { noticeMs: 0, drainMs: 50 }).stop()
  await cut
})
