// What a guard costs: the same route of the same framework, bare and guarded, with a credential that was seen before.
// Both get the very same request, credential and all, so that the ratio tells of the guard and not of parsing a header.
// Each contender alone with its bare twin: servers on one core, client on the other. Both warm up for five
// seconds; then each guarded slice stands between two bare ones, and only the ratio of slices that follow each other
// counts; short ones, since the machine changes its pace from second to second. Two processes of the same program differ by
// some hundredths all their lives, so each of our contenders has four pairs of them and each peer two, in another part of the
// time each: a machine that others use, too, has bad minutes.
import { drawGuard } from './chart.js'
import { startIssuer } from './issuer.js'
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

/** Guarded / bare requests a second that each framework must reach. */
const targets = { express: 0.7, fastify: 0.8, hono: 0.7, 'node:http': 0.8 }

/** A slice of load, and of warming up, seconds. */
const slice = 0.25
const warmUpSlice = 1

/** What each server gets of those. In turns, as later: connections that are idle for longer would be closed. */
const warmUps = 5

/** Rounds of each pair of processes, and pairs of each contender: ours lie closer to what they must reach. */
const roundsEach = 12
const pairs = { ours: 4, others: 2 }

/** `only`: the frameworks to measure, all unless told. Some 30 minutes for all. */
export async function benchGuard({ only = [] } = {}) {
  const contenders = [...ours, ...others].filter(({ framework }) => only.length === 0 || only.includes(framework))
  const client = launch('keep-asking.js', [], 1)
  const issuer = await startIssuer()
  await message(client)
  const samples = new Map(contenders.map((contender) => [contender, []]))
  for (let pair = 0; pair < pairs.ours; pair += 1) {
    const due = contenders.filter(({ peer }) => peer === 'latchkey' || pair < pairs.others)
    for (const contender of shuffled(due)) {
      const runs = await duel(contender, client, issuer)
      samples.get(contender).push(...runs)
      // A sign of life, and what one pair alone would have said; on stderr, where it is in nobody's table.
      console.error(`pair ${pair + 1}: ${nameOf(contender)} ${median(runs.map((run) => run.ratio)).toFixed(3)}`)
    }
  }
  client.disconnect()
  issuer.stop()
  return report(samples)
}

/**
 * One contender and its bare twin, and nobody else: what stands idle beside them would still take from caches and memory.
 * Only who is sent another issuer's tokens knows that issuer: after one `fetch` every request of a process, guarded or not,
 * takes a hundredth more instructions.
 */
async function duel({ peer, framework, credential }, client, issuer) {
  const [bareServer, server] = [
    await serve('bare', { core: 0, framework }),
    await serve(peer, {
      core: 0,
      framework,
      accounts: 1,
      elsewhere: true,
      issuer: credential === 'jwt' ? issuer.url : null,
    }),
  ]
  // The bare route gets the same headers: reading them off the wire is not the guard's doing.
  const headers = { ...server.credentials, jwt: issuer.credentials }[credential]
  const run = async ({ baseUrl, cpu }, seconds = slice) => {
    const before = await cpu()
    const result = await ask(client, { url: `${baseUrl}/api/hello`, headers, seconds })
    return { ...result, cpu: ((await cpu()) - before) / result.requests }
  }
  for (let turn = 0; turn < warmUps; turn += 1) for (const one of [bareServer, server]) await run(one, warmUpSlice)

  const runs = []
  for (let round = 0; round < roundsEach; round += 1) {
    const before = await run(bareServer)
    const guarded = await run(server)
    const after = await run(bareServer)
    const bare = (before.perSecond + after.perSecond) / 2
    runs.push({
      bare,
      guarded: guarded.perSecond,
      ratio: guarded.perSecond / bare,
      p99: guarded.p99,
      cpu: guarded.cpu - (before.cpu + after.cpu) / 2,
    })
  }
  await bareServer.stop()
  await server.stop()
  return runs
}

function report(samples) {
  const head = ['guard', 'bare req/s', 'guarded req/s', 'guarded/bare', '±', 'CPU µs/request', 'p99 ms (c32)']
  const measured = [...samples].map(([contender, runs]) => {
    const of = (key) => median(runs.map((run) => run[key]))
    const error = spread(runs.map((run) => run.ratio))
    return {
      ...contender,
      bare: of('bare'),
      guarded: of('guarded'),
      ratio: of('ratio'),
      error,
      cpu: of('cpu'),
      p99: of('p99'),
    }
  })
  const rows = measured.map((figures) => [
    nameOf(figures),
    figures.bare.toFixed(0),
    figures.guarded.toFixed(0),
    figures.ratio.toFixed(2),
    `${(100 * figures.error).toFixed(1)}%`,
    `${figures.cpu < 0 ? '' : '+'}${figures.cpu.toFixed(1)}`,
    figures.p99.toFixed(1),
  ])
  return { table: table([head, ...rows]), results: judge(measured), chart: drawGuard(measured) }
}

function nameOf({ framework, peer, credential }) {
  return `${framework}: ${peer}, ${credential}`
}

/** Our own ratios against the targets, and against the best peer on the same framework. */
function judge(measured) {
  const rivals = measured.filter(({ peer }) => others.some((other) => other.peer === peer))
  return measured
    .filter(({ peer }) => peer === 'latchkey')
    .flatMap(({ framework, credential, ratio }) => {
      const wanted = targets[framework]
      const best = Math.max(0, ...rivals.filter((rival) => rival.framework === framework).map((rival) => rival.ratio))
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
