// What others feel while 16 people sign in at once: a second client asks a guarded route all the while.
// The server has the whole machine, as it would have; the clients mostly wait.
import { median, shuffled, table } from './numbers.js'
import { launch, message, serve } from './process.js'

const peers = ['latchkey', 'better-auth']

export async function benchStorm({ rounds = 5, seconds = 8 } = {}) {
  const samples = Object.fromEntries(peers.map((peer) => [peer, []]))
  const servers = {}
  for (const peer of peers) servers[peer] = await serve(peer)
  const [pinger, visitors] = [launch('ping.js'), launch('logins.js')]
  await Promise.all([message(pinger), message(visitors)])

  for (let round = 0; round < rounds; round += 1) {
    for (const peer of shuffled(peers)) samples[peer].push(await storm(servers[peer], pinger, visitors, seconds))
  }

  pinger.disconnect()
  visitors.disconnect()
  for (const server of Object.values(servers)) await server.stop()
  return report(samples)
}

async function storm({ baseUrl, credentials, login }, pinger, visitors, seconds) {
  const ping = { url: `${baseUrl}/api/hello`, headers: credentials.cookie }
  pinger.send({ ...ping, seconds: 2 })
  const idle = await message(pinger)

  visitors.send({ url: baseUrl + login.path, origin: baseUrl, accounts: login.accounts, seconds: seconds + 2 })
  await new Promise((resolve) => setTimeout(resolve, 1000))
  pinger.send({ ...ping, seconds })
  const [busy, logins] = await Promise.all([message(pinger), message(visitors)])
  return { idle: idle.p99, p50: busy.p50, p99: busy.p99, max: busy.max, logins: logins.perSecond }
}

function report(samples) {
  const of = (peer, key) => median(samples[peer].map((sample) => sample[key]))
  const rows = [['16 logins at a time', 'logins/s', 'ping idle p99 ms', 'ping p50 ms', 'ping p99 ms', 'ping max ms']]
  for (const peer of peers) {
    rows.push([peer, ...['logins', 'idle', 'p50', 'p99', 'max'].map((key) => of(peer, key).toFixed(1))])
  }
  const p99 = of('latchkey', 'p99')
  const ratio = median(samples.latchkey.map((sample, round) => samples['better-auth'][round].p99 / sample.p99))
  return {
    table: table(rows),
    results: [
      { name: 'ping p99 in a login storm, ms', value: p99.toFixed(1), target: '≤ 10', pass: p99 <= 10 },
      { name: 'better-auth p99 / ours', value: ratio.toFixed(0), target: '≥ 50', pass: ratio >= 50 },
    ],
  }
}
