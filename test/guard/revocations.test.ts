import { describe, expect, it } from 'vitest'
import { createRevocations } from '../../src/guard/revocations.js'
import { createSharedClock } from '../../src/lib/shared-clock.js'
import type { Change } from '../../src/model/change.js'
import { longestAccessTokenSeconds } from '../../src/settings/lifetimes.js'
import type { Changes } from '../../src/store/changes.js'
import { createTestClient, createTestRuntime } from '../../src/testing.js'
import { ada, sharedSettings, testAuth } from '../support/auth.js'

const silent = { warn: () => {}, error: () => {} }

describe('revocation', () => {
  it('ATK-063 reaches another process within a second', async () => {
    const shared = sharedSettings()
    const runtime = createTestRuntime()
    const here = await testAuth(shared, runtime)
    const there = await testAuth(shared, runtime)
    const mailbox = here.mailbox
    const browser = createTestClient(here.auth, { mailbox, clock: runtime.clock, next: () => new Response('in') })
    await browser.signUp(ada)
    const [access] = browser.cookies.all()
    const elsewhere = there.client()
    const cookie = {
      headers: {
        cookie: browser.cookies
          .all()
          .map((one) => `${one.name}=${one.value}`)
          .join('; '),
      },
    }
    expect(access).toBeDefined()
    expect((await elsewhere.get('/api/notes', cookie)).status).toBe(200)

    await browser.signOut()
    expect((await browser.get('/api/notes')).status).toBe(401)
    await runtime.clock.advance(1_000)
    expect((await elsewhere.get('/api/notes', cookie)).body).toMatchObject({ code: 'token_revoked' })
  })

  it('is loaded before a process that starts answers its first guarded request', async () => {
    const shared = sharedSettings()
    const runtime = createTestRuntime()
    const here = await testAuth(shared, runtime)
    const browser = here.client()
    await browser.signUp(ada)
    const thief = browser.copy()
    await browser.signOut()
    await runtime.clock.advance('2m')

    const late = await testAuth(shared, runtime)
    const cookie = thief.cookies
      .all()
      .map((one) => `${one.name}=${one.value}`)
      .join('; ')
    const answer = await late.client().get('/api/notes', { headers: { cookie } })
    expect(answer.body).toMatchObject({ code: 'token_revoked' })
  })

  it('ATK-076 fails closed when the store has been down for longer than the bound, and opens again with it', async () => {
    const world = await brokenWorld()
    expect(world.revocations.isFresh()).toBe(true)
    world.down = true
    await world.clock.advance('9s')
    expect(world.revocations.isFresh()).toBe(true)
    await world.clock.advance('2s')
    expect(world.revocations.isFresh()).toBe(false)
    expect(await world.revocations.catchUp()).toBe(false)
    world.down = false
    expect(await world.revocations.catchUp()).toBe(true)
    expect(world.revocations.isFresh()).toBe(true)
  })

  it('is stale when the clocks go apart or back, until the next good read', async () => {
    const world = await brokenWorld()
    world.clock.step(11_000)
    expect(world.revocations.isFresh()).toBe(false)
    expect(await world.revocations.catchUp()).toBe(true)
    world.clock.step(-1)
    expect(world.revocations.isFresh()).toBe(false)
    expect(await world.revocations.catchUp()).toBe(true)
  })

  it('sees rows that commit late or out of order within the window, and applies each once', async () => {
    const world = await brokenWorld()
    const now = Math.floor(world.clock.now() / 1000)
    world.rows.push(row('late', world.clock.now() - 50_000, now + 900), row('new', world.clock.now(), now + 900))
    await world.clock.advance(500)
    expect([world.revocations.isEnded('late'), world.revocations.isEnded('new')]).toEqual([true, true])
  })

  it('loads everything that matters after a hole, and when the feed went backwards', async () => {
    const world = await brokenWorld()
    const now = Math.floor(world.clock.now() / 1000)
    world.down = true
    world.rows.push(row('in the hole', world.clock.now() + 1_000, now + 900))
    await world.clock.advance('5m')
    world.down = false
    await world.clock.advance(1_000)
    expect(world.revocations.isEnded('in the hole')).toBe(true)

    world.rows.splice(0, world.rows.length, row('from the older state', world.clock.now() - 400_000, now + 900))
    await world.clock.advance(1_000)
    expect(world.revocations.isEnded('from the older state')).toBe(true)
  })

  it('is read at once when another process wakes it, also while another read is under way', async () => {
    const world = await brokenWorld()
    const now = Math.floor(world.clock.now() / 1000)
    world.rows.push(row('first', world.clock.now(), now + 900))
    world.revocations.wake()
    await turns()
    expect(world.revocations.isEnded('first')).toBe(true)

    await world.clock.advance(100)
    const slow = world.hold()
    const polled = world.revocations.catchUp()
    world.rows.push(row('second', world.clock.now(), now + 900))
    slow.letNew()
    world.revocations.wake()
    await turns()
    expect(world.revocations.isEnded('second')).toBe(true)
    slow.release()
    await polled
  })

  it('is not proven fresh by a wake: that takes the reads which see everything', async () => {
    const world = await brokenWorld()
    const now = Math.floor(world.clock.now() / 1000)
    world.clock.step(11_000)
    world.rows.push(row('seen', world.clock.now(), now + 900))
    world.revocations.wake()
    await turns()
    expect([world.revocations.isEnded('seen'), world.revocations.isFresh()]).toEqual([true, false])
    expect(await world.revocations.catchUp()).toBe(true)
  })

  it('is read a few times in a storm of wakes, and the last wake is not lost', async () => {
    const world = await brokenWorld()
    const now = Math.floor(world.clock.now() / 1000)
    const before = world.reads
    for (let wakes = 0; wakes < 1_000; wakes += 1) {
      world.revocations.wake()
      if (wakes % 10 === 0) await world.clock.advance(1)
    }
    world.rows.push(row('last', world.clock.now(), now + 900))
    world.revocations.wake()
    await world.clock.advance(30)
    expect(world.revocations.isEnded('last')).toBe(true)
    expect(world.reads - before).toBeLessThanOrEqual(7)
  })

  it('is not read by wakes that come after it was closed, and a failing read does not end the waking', async () => {
    const world = await brokenWorld()
    const now = Math.floor(world.clock.now() / 1000)
    world.down = true
    world.revocations.wake()
    await world.clock.advance(30)
    world.down = false
    world.rows.push(row('after', world.clock.now(), now + 900))
    world.revocations.wake()
    await turns()
    expect(world.revocations.isEnded('after')).toBe(true)

    world.revocations.close()
    const { reads } = world
    await world.clock.advance(30)
    world.revocations.wake()
    await turns()
    expect(world.reads).toBe(reads)
  })

  it('misses nothing that still matters where its clock is an hour ahead, as it starts and after a gap', async () => {
    const { clock } = createTestRuntime()
    const until = Math.floor(clock.now() / 1000) + 900
    const world = await brokenWorld({ clock, aheadMs: 3_600_000, rows: [row('before', clock.now() - 120_000, until)] })
    expect(world.revocations.isEnded('before')).toBe(true)

    world.aheadMs = 0
    await clock.advance('1s')
    world.down = true
    world.rows.push(row('meanwhile', clock.now(), until))
    await clock.advance('2m')
    world.aheadMs = 3_600_000
    world.down = false
    await clock.advance('1s')
    expect(world.revocations.isEnded('meanwhile')).toBe(true)
  })

  it('forgets what no longer matters', async () => {
    const world = await brokenWorld()
    world.revocations.apply(row('gone', world.clock.now(), Math.floor(world.clock.now() / 1000) + 30))
    expect(world.revocations.isEnded('gone')).toBe(true)
    await world.clock.advance('3m')
    expect(world.revocations.isEnded('gone')).toBe(false)
  })

  it('remembers by its own lifetime of tokens what the store keeps for the longest there may be', async () => {
    const { clock } = createTestRuntime()
    const now = Math.floor(clock.now() / 1000)
    const ended = (subject: string, ago: number) =>
      row(subject, (now - ago) * 1000, now - ago + longestAccessTokenSeconds + 120)
    const rows = [ended('long over', 1_021), ended('still alive', 1_000)]
    const { revocations } = await brokenWorld({ clock, rows, accessTokenSeconds: 900 })
    expect([revocations.isEnded('long over'), revocations.isEnded('still alive')]).toEqual([false, true])
    await clock.advance('3m')
    expect(revocations.isEnded('still alive')).toBe(false)
  })
})

function row(subject: string, atMs: number, until: number): Change {
  return { id: subject, atMs, kind: 'session', subject, version: null, until }
}

async function turns(): Promise<void> {
  for (let turn = 0; turn < 10; turn += 1) await new Promise((resolve) => setImmediate(resolve))
}

/** A feed over real SQLite rows would commit in order and answer; this one is the port itself, failing on demand. */
async function brokenWorld({
  clock = createTestRuntime().clock,
  aheadMs = 0,
  rows = [] as Change[],
  accessTokenSeconds = longestAccessTokenSeconds,
} = {}) {
  let held: Promise<void> | null = null
  const world = {
    clock,
    rows,
    /** How far the clock of the process is ahead of the store's. */
    aheadMs,
    down: false,
    reads: 0,
    /** Reads see what is there now and answer when they are released; `letNew`: those that begin later do not wait. */
    hold() {
      let release = () => {}
      held = new Promise((resolve) => {
        release = resolve
      })
      const letNew = () => {
        held = null
      }
      return { letNew, release: () => release() }
    },
    revocations: undefined as unknown as ReturnType<typeof createRevocations>,
  }
  const page = async (changes: Change[]) => {
    world.reads += 1
    if (held) await held
    if (world.down) throw new Error('down')
    const heads = rows.map((one) => one.atMs)
    return { changes, storeNowMs: clock.now(), headMs: heads.length === 0 ? null : Math.max(...heads) }
  }
  const changes: Changes = {
    recent: (windowMs) => page(rows.filter((one) => one.atMs > clock.now() - windowMs)),
    current: (now) => page(rows.filter((one) => one.until > now)),
    prune: async () => 0,
  }
  world.revocations = createRevocations({
    changes,
    clock: createSharedClock({
      now: () => clock.now() + world.aheadMs,
      monotonic: clock.monotonic,
      testing: false,
    }),
    timer: clock.timer,
    accessTokenSeconds,
    stalenessSeconds: 10,
    logger: silent,
  })
  await world.revocations.start()
  return world
}
