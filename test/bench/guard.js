// What a guard costs: the same Express route, bare and guarded, with a token that was seen before.
// Both get the very same request, credential and all, so that the ratio tells of the guard and not of parsing a header.
// A second bare application in the guard's own process tells what the guard costs from what the process around it does.
// Server on one core, client on the other; each guarded run stands between two bare ones, and only their ratio counts.
import { median, shuffled, spread, table } from './numbers.js'
import { ask, launch, message, serve } from './process.js'

const contenders = [
  { peer: 'latchkey', credential: 'cookie' },
  { peer: 'latchkey', credential: 'bearer' },
  { peer: 'express-jwt', credential: 'cookie' },
  { peer: 'express-jwt', credential: 'bearer' },
  { peer: 'better-auth', credential: 'cookie' },
]

export async function benchGuard({ rounds = 5, seconds = 2 } = {}) {
  const servers = {}
  for (const peer of ['bare', 'latchkey', 'express-jwt', 'better-auth']) servers[peer] = await serve(peer, 0)
  const client = launch('load.js', [], 1)
  await message(client)
  const run = async (peer, headers, { baseUrl, cpu } = servers[peer]) => {
    const before = await cpu()
    const result = await ask(client, { url: `${baseUrl}/api/hello`, headers, seconds })
    return { ...result, cpu: ((await cpu()) - before) / result.requests }
  }
  // The bare route gets the same headers: reading them off the wire is not the guard's doing.
  const headersOf = ({ peer, credential }) => servers[peer].credentials[credential]

  await run('bare', {})
  for (const contender of contenders) await run(contender.peer, headersOf(contender))
  const samples = new Map(contenders.map((contender) => [contender, []]))
  for (let round = 0; round < rounds; round += 1) {
    for (const contender of shuffled(contenders)) {
      const headers = headersOf(contender)
      const before = await run('bare', headers)
      const guarded = await run(contender.peer, headers)
      const after = await run('bare', headers)
      const bare = (before.perSecond + after.perSecond) / 2
      const { besideUrl, cpu } = servers[contender.peer]
      const beside = besideUrl ? await run(contender.peer, headers, { baseUrl: besideUrl, cpu }) : null
      samples.get(contender).push({
        bare,
        guarded: guarded.perSecond,
        ratio: guarded.perSecond / bare,
        beside: beside ? guarded.perSecond / beside.perSecond : null,
        p99: guarded.p99,
        cpu: guarded.cpu - (before.cpu + after.cpu) / 2,
      })
    }
  }

  client.disconnect()
  for (const server of Object.values(servers)) await server.stop()
  return report(samples)
}

function report(samples) {
  const rows = [
    [
      'guard on Express',
      'bare req/s',
      'guarded req/s',
      'guarded/bare',
      '±',
      'of bare in its own process',
      'CPU µs/request',
      'p99 ms (c32)',
    ],
  ]
  const results = []
  for (const [{ peer, credential }, runs] of samples) {
    const of = (key) => median(runs.map((run) => run[key]))
    const ratio = of('ratio')
    rows.push([
      `${peer}, ${credential}`,
      of('bare').toFixed(0),
      of('guarded').toFixed(0),
      ratio.toFixed(2),
      `${(100 * spread(runs.map((run) => run.ratio))).toFixed(1)}%`,
      runs[0].beside === null ? '–' : of('beside').toFixed(2),
      `+${of('cpu').toFixed(1)}`,
      of('p99').toFixed(1),
    ])
    if (peer === 'latchkey') {
      results.push({
        name: `guarded/bare, ${credential}`,
        value: ratio.toFixed(3),
        target: '≥ 0.92',
        pass: ratio >= 0.92,
      })
    }
  }
  return { table: table(rows), results }
}
