import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { AuthError } from '../../../src/errors.js'
import { createTestClock, type TestClock } from '../../../src/testing/clock.js'
import { isAlive, openSupervisedWorkshop, type Supervised, type SupervisedWorkshop } from '../../support/supervised.js'

// Many starts, and one takes seconds on a busy machine.
vi.setConfig({ testTimeout: 180_000 })

let workshop: SupervisedWorkshop
beforeAll(async () => {
  workshop = await openSupervisedWorkshop()
})
afterAll(() => workshop.close())

const crash = (host: Supervised) => host.ask('dev', '/dev/exit/3').catch(() => {})
const starting = { code: 'application_starting', status: 503, details: { retryAfterSeconds: expect.any(Number) } }

/** On a clock that stands still, nothing drains. */
async function close(host: Supervised, clock: TestClock): Promise<void> {
  const closed = host.close()
  await clock.advance('1s')
  await closed
}

function isReady(host: Supervised): Promise<void> {
  return vi.waitFor(() => expect(host.supervisor.status('dev').state).toBe('ready'), { timeout: 20_000 })
}

/** The restart is put on the clock once the output has been read. Small steps, so that the start itself does not time out. */
async function isRestarted(host: Supervised, clock: TestClock, times: number): Promise<void> {
  const step = async () => {
    await clock.advance('1s')
    expect(host.supervisor.status('dev').restarts).toBe(times)
  }
  await vi.waitFor(step, { timeout: 30_000, interval: 20 })
}

describe('a crash', () => {
  test('ATK-162 is followed by a restart, and requests wait for it', async () => {
    const host = await workshop.open()
    host.deployed.set('dev', { bundle: 'prints' })
    const { pid } = await host.supervisor.start('dev')
    await crash(host)
    await expect.poll(() => isAlive(pid)).toBe(false)
    const answer = await host.askAgain('dev', '/dev/release')
    expect(JSON.parse(answer.text).pid).not.toBe(pid)
    expect(host.supervisor.status('dev')).toMatchObject({ state: 'ready', restarts: 1 })
    expect(host.log('dev')).toContain('Latchkey: the process of release 1 has ended, with code 3.')
    expect(host.open.size).toBe(1)
  })

  test('ATK-162 of one that is killed from outside is no different', async () => {
    const host = await workshop.open()
    host.deployed.set('dev', { bundle: 'prints' })
    const { pid } = await host.supervisor.start('dev')
    process.kill(pid, 'SIGKILL')
    // A process is gone before its end is known here.
    await expect.poll(() => host.log('dev')).toContain('has ended, with SIGKILL.')
    expect(await isAlive(pid)).toBe(false)
    expect((await host.askAgain('dev', '/dev/release')).status).toBe(200)
  })

  test('ATK-162 keeps requests for 2 s, then they are 503', async () => {
    const clock = createTestClock()
    const host = await workshop.open({ world: clock })
    host.deployed.set('dev', { bundle: 'prints' })
    await host.supervisor.start('dev')
    await crash(host)
    await expect.poll(() => host.supervisor.status('dev').state).toBe('starting')
    host.deployed.set('dev', { bundle: 'never-listens' })
    const asked = host.supervisor.child('dev').catch((error: unknown) => error)
    await clock.advance('2s')
    expect(await asked).toMatchObject(starting)
    expect(await asked).toBeInstanceOf(AuthError)
    await close(host, clock)
  })

  test('ATK-162 the tenth in 10 minutes makes restarts slow; a deploy starts the space at once', async () => {
    const clock = createTestClock()
    const host = await workshop.open({ world: clock })
    host.deployed.set('dev', { bundle: 'prints' })
    await host.supervisor.start('dev')
    for (let crashes = 1; crashes <= 10; crashes += 1) {
      await isReady(host)
      await host.ask('dev', '/dev/print', { out: [`life ${crashes}\n`] })
      await crash(host)
      await expect.poll(() => host.supervisor.status('dev').state).not.toBe('ready')
      if (crashes < 10) await isRestarted(host, clock, crashes)
    }
    await expect.poll(() => host.crashes).toHaveLength(1)
    expect(host.supervisor.status('dev')).toMatchObject({ state: 'crashed', pid: null, restarts: 9 })
    expect(host.crashes).toEqual([{ spaceId: 'dev', lines: expect.any(Array) }])
    expect(host.crashes[0]?.lines.map(({ text }) => text)).toEqual(
      expect.arrayContaining(['life 10', 'Latchkey: the process of release 1 has ended, with code 3.']),
    )
    expect(host.crashes[0]?.lines.length).toBeLessThanOrEqual(50)
    await expect(host.supervisor.child('dev')).rejects.toMatchObject({
      ...starting,
      details: { retryAfterSeconds: 30 },
    })
    await clock.advance('29s')
    expect(host.supervisor.status('dev').state).toBe('crashed')

    host.deployed.set('dev', { bundle: 'exits' })
    await expect(host.supervisor.start('dev')).rejects.toMatchObject({ code: 'bundle_invalid' })
    expect(host.supervisor.status('dev').state).toBe('crashed')
    host.deployed.set('dev', { bundle: 'prints', release: 2 })
    await host.supervisor.start('dev')
    expect(host.supervisor.status('dev')).toMatchObject({ state: 'ready', release: 2 })
    await close(host, clock)
  })

  test('ATK-237 a space that crashed too often serves again by itself, and is reported once', async () => {
    const clock = createTestClock()
    const host = await workshop.open({ world: clock })
    host.deployed.set('dev', { bundle: 'prints' })
    await host.supervisor.start('dev')
    for (let crashes = 1; crashes <= 11; crashes += 1) {
      await isReady(host)
      await crash(host)
      await expect.poll(() => host.supervisor.status('dev').state).not.toBe('ready')
      await isRestarted(host, clock, crashes)
    }
    await isReady(host)
    expect((await host.ask('dev', '/dev/release')).status).toBe(200)
    expect(host.crashes).toHaveLength(1)
    await close(host, clock)
  })

  test('ATK-237 ten requests that exceed the heap leave no state behind, and the space serves again', async () => {
    const clock = createTestClock()
    const host = await workshop.open({ world: clock })
    host.deployed.set('dev', { bundle: 'hostile', limits: { memoryBytes: 32 * 1024 * 1024 } })
    await host.supervisor.start('dev')
    for (let kills = 1; kills <= 10; kills += 1) {
      await isReady(host)
      await host.ask('dev', '/dev/heap').catch(() => {})
      await vi.waitFor(() => expect(host.supervisor.status('dev').state).toBe('starting'), { timeout: 20_000 })
      await isRestarted(host, clock, kills)
    }
    await isReady(host)
    expect((await host.ask('dev', '/dev/try/evil')).status).toBe(200)
    expect(host.log('dev')).toContain('A request took it down, so it counts as no crash.')
    expect(host.crashes).toEqual([])
    await close(host, clock)
  })

  test('during a deploy that fails is followed by a restart of the former release', async () => {
    const host = await workshop.open()
    host.deployed.set('dev', { bundle: 'prints' })
    host.deployed.set('next', { bundle: 'never-listens', limits: { startMs: 5_000 } })
    await host.supervisor.start('dev')
    const deploy = host.supervisor.start('dev', () => host.planOf('next')).catch((error: unknown) => error)
    await crash(host)
    // The crash cuts a connection that is open just then.
    await vi.waitFor(async () => expect((await host.ask('dev', '/dev/release')).status).toBe(200), { timeout: 30_000 })
    expect(await deploy).toMatchObject({ code: 'application_timeout' })
    expect(host.supervisor.status('dev')).toMatchObject({ state: 'ready', release: 1, restarts: 1 })
  })
})

describe('after a start of the host', () => {
  test('a request starts the space that it is for, and startAll starts the others', async () => {
    const host = await workshop.open()
    for (const spaceId of ['a', 'b', 'c', 'd']) host.deployed.set(spaceId, { bundle: 'prints' })
    expect((await host.askAgain('d', '/dev/release')).status).toBe(200)
    host.supervisor.startAll(['a', 'b', 'c', 'd'])
    for (const spaceId of ['a', 'b', 'c']) expect(host.supervisor.status(spaceId).state).toBe('starting')
    for (const spaceId of ['a', 'b', 'c', 'd']) {
      await vi.waitFor(() => expect(host.supervisor.status(spaceId).state).toBe('ready'), { timeout: 30_000 })
    }
    expect(host.supervisor.status('a').restarts).toBe(0)
  })

  test('a space where nothing is deployed stays stopped, and one whose plan cannot be read is tried again', async () => {
    const host = await workshop.open()
    host.deployed.set('empty', new AuthError('space_not_found'))
    await expect(host.supervisor.child('empty')).rejects.toMatchObject({ code: 'space_not_found' })
    expect(host.supervisor.status('empty').state).toBe('stopped')

    host.deployed.set('broken', new Error('the store is down'))
    host.supervisor.startAll(['broken'])
    await expect.poll(() => host.log('broken')).toContain('It tries again.')
    host.deployed.set('broken', { bundle: 'prints' })
    await vi.waitFor(() => expect(host.supervisor.status('broken').state).toBe('ready'), { timeout: 30_000 })
    expect(host.crashes).toEqual([])
  })
})
