// What a host costs: an application behind it, and the same handlers behind a plain proxy or asked directly. For requests and
// transfers, front, proxy and the handler that is asked directly run on one core; the other handlers and the client on the other.
// Later, the host and its children use both.
import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { childrenOf, forgetPeak, memoryOf, pin, pssOf } from './host/processes.js'
import { bundled, openHost } from './host/serving.js'
import { median, percentile, spread, table } from './numbers.js'
import { ask, launch, message } from './process.js'

const [rounds, slice] = [24, 0.5]
const [transferRounds, mebibytes] = [3, 1_024]
const deploys = 20
const spaces = 50
const changes = 250
const pace = { rate: 200, seconds: 4 }
const idleMs = 5_000

/** Some 6 minutes. */
export async function benchHost() {
  const folder = mkdtempSync(join(tmpdir(), 'latchkey-bench-'))
  const bundle = await bundled(folder)
  const host = await openHost({ stream: '2GiB' })
  const [asking, client] = [launch('keep-asking.js', [], 1), launch('host/client.js', [], 1)]
  await Promise.all([message(asking), message(client)])
  const bare = await openBare(folder)
  try {
    const space = await host.space('dev', bundle.archive)
    const children = childrenOf(host.pid)
    pin(host.pid, '0')
    for (const pid of children) pin(pid, '1')
    const parts = [await rates(asking, { space, bare }), await transfers(client, { space, bare, pid: host.pid })]
    for (const pid of [host.pid, ...children]) pin(pid, '0,1')
    parts.push(
      await deploying(client, { host, space, bundle }),
      await inForce(host),
      await neighbours(client, { host, bundle }),
      await memory({ host, bundle }),
    )
    return {
      table: table([['what', 'host', 'compared with']].concat(parts.flatMap(({ rows }) => rows))),
      results: parts.flatMap(({ results }) => results),
    }
  } finally {
    for (const child of [asking, client, ...bare.children]) child.disconnect()
    await host.close()
    rmSync(folder, { recursive: true })
  }
}

async function openBare(folder) {
  const socketPath = join(folder, 'bare.sock')
  const behind = launch('host/bare.js', ['handler', socketPath], 1)
  const direct = launch('host/bare.js', ['handler', 'alone'], 0)
  const port = message(direct)
  await message(behind)
  const proxy = launch('host/bare.js', ['proxy', socketPath], 0)
  const urlOf = (found) => `http://127.0.0.1:${found}`
  return { children: [behind, direct, proxy], proxied: urlOf(await message(proxy)), direct: urlOf(await port) }
}

/** Requests a second and p99, in turns. */
async function rates(asking, { space, bare }) {
  const runs = { host: [], proxied: [], direct: [] }
  const urls = { host: space.url, proxied: bare.proxied, direct: bare.direct }
  for (let round = -4; round < rounds; round += 1) {
    for (const [name, url] of Object.entries(urls)) {
      const run = await ask(asking, { url: `${url}/hello`, headers: space.headers, seconds: slice })
      if (round >= 0) runs[name].push(run)
    }
  }
  const ratio = (key, other) => median(runs.host.map((run, round) => run[key] / runs[other][round][key]))
  const of = (name, key) => median(runs[name].map((run) => run[key]))
  const noise = `± ${(spread(runs.host.map((run, round) => run.perSecond / runs.proxied[round].perSecond)) * 100).toFixed(0)} %`
  return {
    rows: [
      [
        'GET a second / bare proxy',
        of('host', 'perSecond').toFixed(0),
        `${of('proxied', 'perSecond').toFixed(0)} (${noise})`,
      ],
      ['GET a second / direct', of('host', 'perSecond').toFixed(0), of('direct', 'perSecond').toFixed(0)],
      ['GET p99 ms / bare proxy', of('host', 'p99').toFixed(2), of('proxied', 'p99').toFixed(2)],
    ],
    results: [
      atLeast('GET / bare proxy', ratio('perSecond', 'proxied'), 1),
      atMost('GET p99 / bare proxy', ratio('p99', 'proxied'), 1.2),
      atLeast('GET / direct', ratio('perSecond', 'direct'), 0.4),
    ],
  }
}

async function transfers(client, { space, bare, pid }) {
  const results = []
  const rows = []
  const before = memoryOf(pid).now
  forgetPeak(pid)
  for (const deed of ['down', 'up']) {
    const speeds = { host: [], proxied: [] }
    for (let round = 0; round < transferRounds; round += 1) {
      speeds.proxied.push(await ask(client, { deed, url: bare.proxied, headers: {}, mebibytes }))
      speeds.host.push(await ask(client, { deed, url: space.url, headers: space.headers, mebibytes }))
    }
    rows.push([`${mebibytes} MiB ${deed}, MiB/s`, median(speeds.host).toFixed(0), median(speeds.proxied).toFixed(0)])
    const ratio = median(speeds.host.map((speed, round) => speed / speeds.proxied[round]))
    results.push(atLeast(`${deed} / bare proxy`, ratio, 0.9))
  }
  const grown = memoryOf(pid).peak - before
  rows.push(['front during transfers, MiB', `+ ${grown.toFixed(0)}`, `${before.toFixed(0)} before`])
  return { rows, results: [...results, atMost('memory of the front, MiB more', grown, 32)] }
}

async function deploying(client, { host, space, bundle }) {
  const paced = ask(client, { deed: 'pace', url: `${space.url}/hello`, headers: space.headers, rate: 200 })
  for (let deploy = 0; deploy < deploys; deploy += 1) await host.deploy('dev', bundle.archive)
  client.send('stop')
  const { requests, others } = await paced
  const refused = Object.values(others).reduce((sum, count) => sum + count, 0)
  const [hosted, byHand] = [[], []]
  for (let round = 0; round < 9; round += 1) {
    hosted.push(await milliseconds(() => host.deploy('dev', bundle.archive)))
    byHand.push(await milliseconds(() => imported(bundle.file)))
  }
  const ratio = median(hosted.map((took, round) => took / byHand[round]))
  return {
    rows: [
      [`${deploys} deploys under ${requests} requests`, `${refused} refused`, JSON.stringify(others)],
      ['upload to serving, ms / spawn and import', median(hosted).toFixed(0), median(byHand).toFixed(0)],
    ],
    results: [atMost('deploys: answers that are no 2xx', refused, 0), atMost('upload to serving / by hand', ratio, 3)],
  }
}

function imported(file) {
  const child = spawn(process.execPath, [
    '-e',
    `import(${JSON.stringify(pathToFileURL(file).href)}).then(() => process.exit())`,
  ])
  return new Promise((resolve) => child.once('exit', resolve))
}

/** How long until a token of the API that is made or removed counts so. */
async function inForce(host) {
  const url = `${host.baseUrl}/dev/hello`
  const took = []
  /** A token that counts no more is 401, and after thirty of those 429. */
  const until = async (headers, wanted) => {
    const start = performance.now()
    while (!wanted.includes(await statusOf(url, headers))) {
      if (performance.now() - start > 10_000) throw new Error('a change is not in force after ten seconds')
    }
    took.push(performance.now() - start)
  }
  for (let change = 0; change < changes; change += 1) {
    const { id, token } = await host.call('POST', '/spaces/dev/tokens', { name: 'change' })
    await until({ 'x-apikey': token }, [200])
    await host.call('DELETE', `/spaces/dev/tokens/${id}`)
    await until({ 'x-apikey': token }, [401, 429])
  }
  const inTime = took.filter((ms) => ms <= 1_000).length
  return {
    rows: [['a token in force, ms: median, longest', median(took).toFixed(1), Math.max(...took).toFixed(0)]],
    results: [atLeast(`API tokens in force within 1 s, of ${took.length}`, inTime, took.length)],
  }
}

async function statusOf(url, headers) {
  const answer = await fetch(url, { headers })
  await answer.arrayBuffer()
  return answer.status
}

/** The p99 of one space while another misbehaves, and alone before and after. */
async function neighbours(client, { host, bundle }) {
  const one = await host.space('calm', bundle.archive)
  const wild = await host.space('wild', bundle.archive)
  const measure = () => ask(client, { deed: 'pace', url: `${one.url}/hello`, headers: one.headers, ...pace })
  const rows = []
  const results = []
  for (const deed of ['loop', 'log', 'fill']) {
    const ratios = []
    const p99s = []
    for (let round = 0; round < 3; round += 1) {
      const before = await measure()
      const stop = keepCalling(`${wild.url}/${deed}`, wild.headers)
      const meanwhile = await measure()
      await stop()
      // An endless loop runs until the host kills its process. A deploy replaces it.
      await host.deploy('wild', bundle.archive)
      const after = await measure()
      ratios.push(meanwhile.p99 / ((before.p99 + after.p99) / 2))
      p99s.push([meanwhile.p99, (before.p99 + after.p99) / 2])
    }
    const at = (index) => median(p99s.map((pair) => pair[index])).toFixed(1)
    rows.push([`p99 ms while a neighbour does ${deed}`, at(0), at(1)])
    results.push(atMost(`p99 / alone, ${deed}`, median(ratios), 1.3))
  }
  return { rows, results }
}

/** Eight requests at a time until it is stopped. */
function keepCalling(url, headers) {
  const controller = new AbortController()
  const { signal } = controller
  const again = async () => {
    while (!signal.aborted) {
      const answer = await fetch(url, { headers, signal }).catch(() => null)
      await answer?.arrayBuffer().catch(() => null)
      if (answer === null || answer.status >= 500) await new Promise((resolve) => setTimeout(resolve, 50))
    }
  }
  const all = Array.from({ length: 8 }, again)
  return async () => {
    controller.abort()
    await Promise.all(all)
  }
}

/** PSS of an idle space, and of a host with fifty. */
async function memory({ host, bundle }) {
  const names = Array.from({ length: spaces }, (_, index) => `s${index}`)
  for (const name of names) await host.space(name, bundle.archive)
  const script = `import(${JSON.stringify(pathToFileURL(bundle.file).href)}).then(() => require('node:http').createServer().listen(0))`
  const byHand = Array.from({ length: 5 }, () => spawn(process.execPath, ['-e', script]))
  await new Promise((resolve) => setTimeout(resolve, idleMs))
  const children = childrenOf(host.pid)
  const each = children.map(pssOf)
  const plain = byHand.map(({ pid }) => pssOf(pid))
  for (const child of byHand) child.kill()
  const all = each.reduce((sum, mebibytes) => sum + mebibytes, pssOf(host.pid))
  return {
    rows: [
      [
        'idle space, MiB PSS / bare node',
        median(each).toFixed(1),
        `${median(plain).toFixed(1)} (p90 of ours ${percentile(each, 0.9).toFixed(1)})`,
      ],
      [`${children.length} spaces and the front, MiB PSS`, all.toFixed(0), ''],
    ],
    results: [
      atMost('idle space / bare node, PSS', median(each) / median(plain), 1.25),
      atMost(`${children.length} spaces, MiB`, all, 1.6 * 1_024),
    ],
  }
}

async function milliseconds(work) {
  const start = performance.now()
  await work()
  return performance.now() - start
}

function atLeast(name, value, target) {
  return { name, value: value.toFixed(2), target: `≥ ${target}`, pass: value >= target }
}

function atMost(name, value, target) {
  return { name, value: value.toFixed(2), target: `≤ ${target}`, pass: value <= target }
}
