import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { AuthError } from '../../../src/errors.js'
import { type Jar, type Process, RotationWorld, take } from '../../support/rotation-world.js'

/** The longest that a request or an answer is under way. */
const slowestMs = 14_900
/** Process clocks lie within 25 s of each other. */
const skewMs = 12_500
/** A proof is written at most this long after the first sight, unless a batch fails. */
const batchMs = 1_000

let world: RotationWorld

beforeAll(async () => {
  world = await RotationWorld.create()
})

afterAll(() => world.store.close())

/** Most messages are quick; the slow ones make the races. */
const delay = fc.oneof(
  { weight: 3, arbitrary: fc.integer({ min: 0, max: 300 }) },
  { weight: 1, arbitrary: fc.integer({ min: 0, max: slowestMs }) },
  { weight: 1, arbitrary: fc.integer({ min: slowestMs - 2_000, max: slowestMs }) },
)

/** One thing that a tab does, or that happens to a process, some time after the one before. */
const step = fc.record({
  afterMs: fc.oneof(
    { weight: 12, arbitrary: fc.integer({ min: 0, max: 600 }) },
    { weight: 4, arbitrary: fc.integer({ min: 0, max: 20_000 }) },
    { weight: 4, arbitrary: fc.integer({ min: 25_000, max: 60_000 }) },
    { weight: 2, arbitrary: fc.integer({ min: 900_000, max: 4_000_000 }) },
    { weight: 1, arbitrary: fc.integer({ min: 86_400_000, max: 5 * 86_400_000 }) },
  ),
  kind: fc.oneof(
    { weight: 8, arbitrary: fc.constant('refresh' as const) },
    { weight: 6, arbitrary: fc.constant('api' as const) },
    { weight: 1, arbitrary: fc.constant('crash' as const) },
    { weight: 1, arbitrary: fc.constant('batches fail' as const) },
  ),
  process: fc.nat({ max: 1 }),
  thereMs: delay,
  backMs: delay,
  lost: fc.oneof({ weight: 3, arbitrary: fc.constant(false) }, { weight: 1, arbitrary: fc.constant(true) }),
})

type Step = typeof step extends fc.Arbitrary<infer T> ? T : never

const skews = fc.tuple(fc.integer({ min: -skewMs, max: skewMs }), fc.integer({ min: -skewMs, max: skewMs }))

interface Browser {
  jar: Jar
  /** Codes of refused refreshes. */
  refused: string[]
}

/** Sends what the jar holds now; the process handles it when it arrives; the jar changes when the answer does. */
function schedule(browser: Browser, process: Process, step: Step, atMs: number): void {
  if (step.kind === 'crash') return void world.schedule(atMs, () => process.crash())
  if (step.kind === 'batches fail') {
    world.schedule(atMs, () => setFailing(process, true))
    return void world.schedule(atMs + 10 * step.thereMs, () => setFailing(process, false))
  }

  world.schedule(atMs, () => {
    const { access, refresh } = browser.jar
    world.schedule(atMs + step.thereMs, () => {
      if (step.kind === 'api') return void process.api(access)
      void world.track(present(browser, process, refresh, step))
    })
  })
}

function setFailing(process: Process, fails: boolean): void {
  process.batchesFail = fails
}

async function present(browser: Browser, process: Process, token: string, step: Step): Promise<void> {
  try {
    const issued = await process.refresh(token)
    if (step.lost) return
    world.schedule(world.nowMs + step.backMs, () => {
      browser.jar = take(browser.jar, issued)
    })
  } catch (error) {
    if (error instanceof AuthError && error.status !== 503) browser.refused.push(error.code)
  }
}

describe('rotation', () => {
  it('ATK-069 never signs out one cookie jar, whatever tabs, delays, losses, crashes and skewed processes do', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 40 }), skews, async (steps, [first, second]) => {
        const processes = [world.process(first), world.process(second)] as const
        const { jar } = await world.signIn(processes[0])
        const browser: Browser = { jar, refused: [] }

        let atMs = world.nowMs
        for (const step of steps) {
          atMs += step.afterMs
          schedule(browser, processes[step.process === 0 ? 0 : 1], step, atMs)
        }
        await world.until(atMs + 3 * slowestMs)

        expect(browser.refused.filter((code) => code !== 'session_expired')).toEqual([])
        for (const process of processes) process.batchesFail = false
        const last = await processes[0].refresh(browser.jar.refresh).catch((error: AuthError) => error.code)
        expect(typeof last === 'string' ? last : 'signed in').toBe('signed in')
      }),
      { numRuns: 200 },
    )
  })

  it('ATK-068 ends a session that two holders keep using at the second one’s next refresh', async () => {
    const use = fc.record({
      who: fc.constantFrom('owner' as const, 'thief' as const),
      afterMs: fc.integer({ min: 5_000, max: 2_000_000 }),
      process: fc.nat({ max: 1 }),
    })
    /** However it began: both go on using what they hold, each refreshing well after the other's successor was proven. */
    const goOn = Array.from({ length: 8 }, (_, index) => ({
      who: index % 2 === 0 ? ('owner' as const) : ('thief' as const),
      afterMs: 70_000,
      process: index % 2,
    }))
    await fc.assert(
      fc.asyncProperty(fc.array(use, { maxLength: 20 }), skews, async (uses, [first, second]) => {
        const processes = [world.process(first), world.process(second)] as const
        const { jar, sessionId } = await world.signIn(processes[0])
        const jars = { owner: jar, thief: jar }
        /** When a token of each rotation was first seen, true time. */
        const seenAt = new Map<number, number>()
        let ended = false

        for (const { who, afterMs, process } of [...uses, ...goOn]) {
          await world.until(world.nowMs + afterMs)
          const at = processes[process === 0 ? 0 : 1]
          const before = await world.store.sessions.find(sessionId)
          const counter = at.ports.tokens.checkRefresh(jars[who].refresh)?.ctr ?? -1
          const outcome = await at.refresh(jars[who].refresh).catch((error: AuthError) => error.code)

          if (typeof outcome === 'string') {
            expect(outcome).toBe('token_revoked')
            expect(await world.store.sessions.find(sessionId)).toBeNull()
            ended = true
            break
          }
          const current = before?.session.counter ?? -1
          const provenAt = seenAt.get(current)
          const overdue = provenAt !== undefined && world.nowMs - provenAt > 30_000 + batchMs
          expect(counter < current && overdue).toBe(false)

          jars[who] = take(jars[who], outcome)
          at.api(jars[who].access)
          const seen = at.ports.tokens.checkAccess(jars[who].access)?.ctr ?? -1
          if (!seenAt.has(seen)) seenAt.set(seen, world.nowMs)
        }
        expect(ended).toBe(true)
      }),
      { numRuns: 100 },
    )
  })

  it('ATK-069 gives 50 parallel refreshes one lineage', async () => {
    const processes = [world.process(0), world.process(5_000)] as const
    const { jar, sessionId } = await world.signIn(processes[0])
    const answers = await Promise.all(
      Array.from({ length: 50 }, (_, index) => processes[index % 2 === 0 ? 0 : 1].refresh(jar.refresh)),
    )
    expect(new Set(answers.map((answer) => answer.refreshToken)).size).toBe(1)
    expect((await world.store.sessions.find(sessionId))?.session.counter).toBe(1)
  })

  it('gives the same successor byte for byte until somebody has used it, however late', async () => {
    const process = world.process(0)
    const { jar } = await world.signIn(process)
    const first = await process.refresh(jar.refresh)
    await world.until(world.nowMs + 3 * 86_400_000)
    const again = await process.refresh(jar.refresh)
    expect(again.refreshToken).toBe(first.refreshToken)
    expect(again.accessToken).not.toBeNull()
  })

  it('answers a late sibling without tokens for 30 seconds after the proof, and calls it theft after that', async () => {
    const process = world.process(0)
    const { jar, sessionId } = await world.signIn(process)
    const next = take(jar, await process.refresh(jar.refresh))
    process.api(next.access)

    await world.until(world.nowMs + 29_000)
    const sibling = await process.refresh(jar.refresh)
    expect([sibling.accessToken, sibling.refreshToken]).toEqual([null, null])

    await world.until(world.nowMs + 2_500)
    await expect(process.refresh(jar.refresh)).rejects.toMatchObject({ code: 'token_revoked' })
    expect(await world.store.sessions.find(sessionId)).toBeNull()
    await expect(process.refresh(next.refresh)).rejects.toMatchObject({ code: 'token_revoked' })
    const [event] = await world.store.audit.list({ event: 'refresh_token_reuse', limit: 1 })
    expect(event).toMatchObject({ sessionId, outcome: 'failure' })
  })

  it('ATK-068 ends the session at once for a token two rotations old', async () => {
    const process = world.process(0)
    const { jar, sessionId } = await world.signIn(process)
    let holder = jar
    for (let round = 0; round < 2; round += 1) {
      holder = take(holder, await process.refresh(holder.refresh))
      process.api(holder.access)
      await world.until(world.nowMs + 40_000)
    }
    holder = take(holder, await process.refresh(holder.refresh))
    await expect(process.refresh(jar.refresh)).rejects.toMatchObject({ code: 'token_revoked' })
    expect(await world.store.sessions.find(sessionId)).toBeNull()
  })

  it('keeps the refresh token while its rotation is younger than 30 seconds proven', async () => {
    const process = world.process(0)
    const { jar } = await world.signIn(process)
    const next = take(jar, await process.refresh(jar.refresh))
    const soon = await process.refresh(next.refresh)
    expect(soon.refreshToken).toBeNull()
    expect(soon.accessToken).not.toBeNull()

    await world.until(world.nowMs + 32_000)
    const later = await process.refresh(next.refresh)
    expect(later.refreshToken).not.toBeNull()
  })

  it('ATK-071 refuses to refresh beyond the absolute and the idle end', async () => {
    const process = world.process(0)
    const { jar } = await world.signIn(process)
    const { jar: idle } = await world.signIn(process)
    let holder = jar
    for (let day = 0; day < 89; day += 20) {
      holder = take(holder, await process.refresh(holder.refresh))
      process.api(holder.access)
      await world.until(world.nowMs + 20 * 86_400_000)
    }
    await expect(process.refresh(holder.refresh)).rejects.toMatchObject({ code: 'session_expired' })
    await expect(process.refresh(idle.refresh)).rejects.toMatchObject({ code: 'session_expired' })
  })

  it('refuses a token from the future of a store that was put back', async () => {
    const process = world.process(0)
    const { jar, sessionId } = await world.signIn(process)
    const claims = process.ports.tokens.checkRefresh(jar.refresh)
    if (!claims) throw new Error('no claims')
    const ahead = process.ports.tokens.signRefresh({ ...claims, ctr: 7 })
    await expect(process.refresh(ahead)).rejects.toMatchObject({ code: 'token_revoked' })
    expect(await world.store.sessions.find(sessionId)).not.toBeNull()
  })
})
