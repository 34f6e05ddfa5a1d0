// npm run scale -- host [--seconds=120]: one host with two spaces under load, while its front, its data threads and the processes of
// its spaces are killed at random. Ends with a table, and with 1 unless every zero is one. Linux only.
import { randomUUID } from 'node:crypto'
import { rmSync } from 'node:fs'
import { bundled, prepareHost, setUp } from '../../bench/host/serving.js'
import { table } from '../../bench/numbers.js'
import { sleep } from '../processes.js'
import { addUp, audit, churnTokens, createLedger, intrude, putDocuments, readRelease, setKey } from './load.js'
import { supervise } from './supervised.js'

const application = new URL('application.js', import.meta.url)
const deployEveryMs = 6_000
/** A space that crashed rests for up to 30 s before its next start. */
const calmMs = 35_000
/** How much often each is killed, of ten times. */
const weights = { killFront: 1, killThread: 4, killChild: 5 }

/** Returns how much of what must be nothing was something. */
export async function scaleHost(seconds) {
  const place = await prepareHost()
  const host = supervise(place.folder)
  try {
    const { call, deploy } = await patiently(() => setUp(place))
    return await underLoad({ place, host, call, deploy }, seconds)
  } finally {
    await host.stop()
    rmSync(place.folder, { recursive: true, force: true })
  }
}

async function underLoad({ place, host, call, deploy }, seconds) {
  const ledger = createLedger()
  const release = { last: 0, allowed: [] }
  const nextRelease = async (space) => {
    const number = release.last + 1
    release.last = number
    const { archive } = await bundled(place.folder, application, { RELEASE: String(number) })
    if (space === 'dev') release.allowed = [...release.allowed, number]
    await deploy(space, archive)
    if (space === 'dev') release.allowed = [number]
  }
  for (const name of ['other', 'dev']) {
    await call('POST', '/spaces', { name })
    await nextRelease(name)
  }
  const [dev, other] = [await openSpace(call, place, 'dev'), await openSpace(call, place, 'other')]
  let isStopped = false
  const stopped = () => isStopped
  const workers = [
    ...[dev, dev, other].map((space) => putDocuments(ledger, space, stopped)),
    ...[dev, other].map((space) => addUp(ledger, space, stopped)),
    ...[dev, other].map((space) => setKey(ledger, space, stopped)),
    readRelease(ledger, dev, () => release.allowed, stopped),
    intrude(ledger, strangersOf(dev, other), stopped),
    churnTokens(ledger, { url: dev.url, call, space: 'dev' }, stopped),
    deployAgain({ nextRelease, release, call }, stopped),
  ]
  const end = performance.now() + seconds * 1_000
  while (performance.now() < end) {
    await sleep(400 + Math.random() * 1_800)
    host[drawn(weights)]()
  }
  isStopped = true
  await Promise.all(workers)
  await sleep(calmMs)
  await audit(ledger)
  return report(ledger, host, release.last, seconds)
}

async function openSpace(call, { baseUrl }, name) {
  const tokenOf = async (access) => {
    const { token } = await call('POST', `/spaces/${name}/tokens`, { name: 'scale', access })
    return { 'x-apikey': token }
  }
  return { url: `${baseUrl}/${name}`, headers: await tokenOf('READWRITE'), reader: await tokenOf('READ') }
}

function strangersOf(dev, other) {
  const put = (headers) => ({ url: `${dev.url}/put`, method: 'POST', headers, body: { id: randomUUID() } })
  return [
    { what: 'no token', url: `${dev.url}/release` },
    { what: 'an unknown token', url: `${dev.url}/release`, headers: { 'x-apikey': randomUUID() } },
    { what: 'the token of another space', url: `${dev.url}/release`, headers: other.headers },
    { what: 'a READ token that writes', ...put(dev.reader) },
    { what: 'an unknown token that writes', ...put({ 'x-apikey': randomUUID() }) },
  ]
}

/** Deploys one release after another. After a deploy that broke off, the host says which release is in force. */
async function deployAgain({ nextRelease, release, call }, stopped) {
  while (!stopped()) {
    await sleep(deployEveryMs)
    if (stopped()) return
    const before = release.allowed
    try {
      await nextRelease('dev')
    } catch {
      // Upload, switch or answer broke off. A complete upload goes on in the host, so both may answer until the next deploy.
      release.allowed = [...before, release.last]
      await patiently(() => call('GET', '/spaces/dev/releases'))
    }
  }
}

function drawn(shares) {
  const all = Object.entries(shares).flatMap(([name, share]) => Array(share).fill(name))
  return all[Math.floor(Math.random() * all.length)]
}

async function patiently(work) {
  for (let tries = 0; ; tries += 1) {
    try {
      return await work()
    } catch (error) {
      if (tries === 100) throw error
      await sleep(200)
    }
  }
}

function report(ledger, host, releases, seconds) {
  const { faults, counted } = ledger
  for (const exit of host.exits) faults['wrong answers'].push(`the front ended by itself: ${exit}`)
  const killed = Object.entries(host.kills).map(([what, count]) => `${count} × ${what}`)
  console.log(
    `${seconds} s, ${counted.requests} requests: ${counted.done} done, ${counted.unavailable} refused, ${counted.broken} broken off`,
  )
  console.log(`${ledger.puts.length} documents confirmed, ${releases} releases made; killed: ${killed.join(', ')}\n`)
  for (const [what, list] of Object.entries(faults))
    for (const each of list.slice(0, 12)) console.log(`${what}: ${each}`)
  console.log(table([['must be 0', 'counted'], ...Object.entries(faults).map(([what, list]) => [what, list.length])]))
  const broken = Object.values(faults).reduce((sum, list) => sum + list.length, 0)
  if (broken > 0) console.log(`\nThe last lines of the host:\n${host.output()}`)
  return broken
}
