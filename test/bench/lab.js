import { spawn } from 'node:child_process'
import { startPostgres } from '../scale/postgres.js'
import { addUsers, refreshRequests } from './many-sessions.js'
import { launch, message } from './process.js'

const n = Number(process.argv[2] ?? 6000)
const rounds = Number(process.argv[3] ?? 1)
const prof = process.argv[4] === 'prof'
const postgres = await startPostgres()
try {
  process.env.LATCHKEY_BENCH_DATABASE = postgres.createDatabase('latchkey')
  const args = prof ? ['--cpu-prof', '--cpu-prof-dir=/tmp/lab', '--cpu-prof-interval', '200'] : []
  const child = spawn(process.execPath, [...args, 'test/bench/server.js', 'latchkey-postgres', 'express', '16'], {
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  })
  const s = await message(child)
  await addUsers(postgres.url('latchkey'), { first: 1, last: n * rounds, sessionsEach: 1 })
  const client = launch('burst.js')
  await message(client)
  const cpu = async () => {
    const a = message(child)
    child.send('cpu')
    return a
  }
  for (let r = 0; r < rounds; r++) {
    const before = await cpu()
    const sessions = Array.from({ length: n }, (_, i) => ({ session: 1 + r * n + i, user: 1 + r * n + i }))
    client.send({
      url: s.baseUrl,
      connections: 16,
      mustSet: 'refresh-token=',
      requests: refreshRequests({ ...s.credentials, origin: s.baseUrl }, sessions),
    })
    const f = await message(client)
    console.log(
      f.perSecond.toFixed(0),
      '/s  cpu',
      (((await cpu()) - before) / n).toFixed(1),
      'us  p50',
      f.p50.toFixed(1),
    )
  }
  client.disconnect()
  const ended = new Promise((r) => child.once('exit', r))
  child.disconnect()
  await ended
} finally {
  postgres.remove()
}
process.exit(0)
