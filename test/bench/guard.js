// What a guard costs: the same route of the same framework, bare and guarded, with a credential that was seen before.
// Both get the very same request, credential and all, so that the ratio tells of the guard and not of parsing a header.
// A second bare application in the guard's own process tells what the guard costs from what the process around it does.
// Server on one core, client on the other; each guarded run stands between two bare ones, and only their ratio counts.
import { drawGuard } from './chart.js'
import { median, shuffled, spread, table } from './numbers.js'
import { ask, launch, message, serve } from './process.js'

const ours = ['express', 'fastify', 'hono', 'node:http'].flatMap((framework) =>
  ['cookie', 'bearer', 'apiToken', 'jwt'].map((credential) => ({ framework, peer: 'latchkey', credential })),
)
const others = [
  { framework: 'express', peer: 'express-jwt', credential: 'cookie' },
  { framework: 'express', peer: 'express-jwt', credential: 'bearer' },
  { framework: 'express', peer: 'passport-jwt', credential: 'bearer' },
  { framework: 'express', peer: 'auth-express', credential: 'cookie' },
  { framework: 'express', peer: 'better-auth', credential: 'cookie' },
  { framework: 'express', peer: 'better-auth-store', credential: 'cookie' },
  { framework: 'fastify', peer: 'fastify-jwt', credential: 'cookie' },
  { framework: 'fastify', peer: 'fastify-jwt-cache', credential: 'cookie' },
  { framework: 'hono', peer: 'hono-jwt', credential: 'cookie' },
]

/** What must be reached on each framework. */
const targets = { express: 0.92, fastify: 0.85, hono: 0.85, 'node:http': 0.85 }

export async function benchGuard({ rounds = 5, seconds = 1, only = null } = {}) {
  const contenders = [...ours, ...others].filter(({ framework }) => only === null || only === framework)
  const servers = new Map()
  for (const { peer, framework } of contenders.flatMap((one) => [{ ...one, peer: 'bare' }, one])) {
    const name = `${peer} ${framework}`
    if (!servers.has(name)) servers.set(name, await serve(peer, { core: 0, framework }))
  }
  const client = launch('load.js', [], 1)
  await message(client)
  let warm = false
  const run = async ({ baseUrl, cpu }, headers) => {
    const before = await cpu()
    const result = await ask(client, { url: `${baseUrl}/api/hello`, headers, seconds: warm ? seconds : 0.5 })
    return { ...result, cpu: ((await cpu()) - before) / result.requests }
  }

  const samples = new Map(contenders.map((contender) => [contender, []]))
  // The first round warms everything up and is forgotten.
  for (let round = 0; round <= rounds; round += 1) {
    warm = round > 0
    for (const contender of shuffled(contenders)) {
      const { peer, framework, credential } = contender
      const server = servers.get(`${peer} ${framework}`)
      // The bare route gets the same headers: reading them off the wire is not the guard's doing.
      const headers = server.credentials[credential]
      const bareServer = servers.get(`bare ${framework}`)
      const before = await run(bareServer, headers)
      const guarded = await run(server, headers)
      const after = await run(bareServer, headers)
      const isAsked = server.besideUrl && framework === 'express'
      const beside = isAsked ? await run({ ...server, baseUrl: server.besideUrl }, headers) : null
      const bare = (before.perSecond + after.perSecond) / 2
      if (round === 0) continue
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
  for (const server of servers.values()) await server.stop()
  return report(samples)
}

function report(samples) {
  const head = [
    'guard',
    'bare req/s',
    'guarded req/s',
    'guarded/bare',
    '±',
    'of bare in its own process',
    'CPU µs/request',
    'p99 ms (c32)',
  ]
  const measured = [...samples].map(([contender, runs]) => {
    const of = (key) => median(runs.map((run) => run[key]))
    const beside = runs[0].beside === null ? null : of('beside')
    const error = spread(runs.map((run) => run.ratio))
    return {
      ...contender,
      bare: of('bare'),
      guarded: of('guarded'),
      ratio: of('ratio'),
      beside,
      error,
      cpu: of('cpu'),
      p99: of('p99'),
    }
  })
  const rows = measured.map(({ framework, peer, credential, ...figures }) => [
    `${framework}: ${peer}, ${credential}`,
    figures.bare.toFixed(0),
    figures.guarded.toFixed(0),
    figures.ratio.toFixed(2),
    `${(100 * figures.error).toFixed(1)}%`,
    figures.beside === null ? '–' : figures.beside.toFixed(2),
    `+${figures.cpu.toFixed(1)}`,
    figures.p99.toFixed(1),
  ])
  return { table: table([head, ...rows]), results: judge(measured), chart: drawGuard(measured) }
}

/** Our own ratios against the targets, and against the best peer on the same framework. */
function judge(measured) {
  return measured
    .filter(({ peer }) => peer === 'latchkey')
    .flatMap(({ framework, credential, ratio }) => {
      const wanted = targets[framework]
      const best = Math.max(
        0,
        ...measured.filter((one) => one.framework === framework && one.peer !== 'latchkey').map((one) => one.ratio),
      )
      const of = `${framework}, ${credential}`
      return [
        { name: `guarded/bare, ${of}`, value: ratio.toFixed(3), target: `≥ ${wanted}`, pass: ratio >= wanted },
        {
          name: `ahead of every peer, ${of}`,
          value: ratio.toFixed(3),
          target: `> ${best.toFixed(3)}`,
          pass: ratio > best,
        },
      ]
    })
}
