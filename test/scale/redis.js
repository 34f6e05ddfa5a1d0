// A Redis of the run's own that keeps nothing on disk: killed, it comes back empty.

import { connect } from 'node:net'
import { freePort, kill, sleep, start } from './processes.js'

export async function startRedis() {
  const port = await freePort()
  let server = null
  const begin = async () => {
    server = start('redis-server', ['--port', String(port), '--bind', '127.0.0.1', '--save', '', '--appendonly', 'no'])
    await answering(port)
  }
  await begin()
  return { url: `redis://127.0.0.1:${port}`, begin, end: () => kill(server) }
}

async function answering(port) {
  for (let tries = 0; tries < 100; tries += 1) {
    const taken = await new Promise((resolve) => {
      const socket = connect(port, '127.0.0.1', () => resolve(true)).on('error', () => resolve(false))
      socket.once('connect', () => socket.end())
    })
    if (taken) return
    await sleep(50)
  }
  throw new Error('redis-server does not answer')
}
