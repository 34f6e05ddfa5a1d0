import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import type { RunningChild } from '../../../src/host/children/start.js'
import { countRequests } from '../../../src/host/children/start.js'
import { retire } from '../../../src/host/children/switch.js'
import { createTestClock } from '../../../src/testing/clock.js'
import { startFront } from '../../support/host-front.js'
import { ask } from '../../support/space-child.js'
import { isAlive, openSupervisedWorkshop, type SupervisedWorkshop } from '../../support/supervised.js'

// Many starts, and one takes seconds on a busy machine.
vi.setConfig({ testTimeout: 180_000 })

let workshop: SupervisedWorkshop
beforeAll(async () => {
  workshop = await openSupervisedWorkshop()
})
afterAll(() => workshop.close())

describe('a switch', () => {
  test('20 deploys under steady load give no answer other than 200, and one child is left', async () => {
    const host = await workshop.open()
    const front = await startFront({ dev: { child: () => host.supervisor.child('dev') } })
    const answers = new Map<string, number>()
    let isOver = false
    async function ask(): Promise<void> {
      while (!isOver) {
        const outcome = await fetch(`${front.url}/dev/release`).then(
          async (response) => `${response.status} ${(await response.text()).includes('release')}`,
          (error: unknown) => String(error),
        )
        answers.set(outcome, (answers.get(outcome) ?? 0) + 1)
        await new Promise((resolve) => setTimeout(resolve, 20))
      }
    }

    const pids: number[] = []
    host.deployed.set('dev', { bundle: 'prints' })
    pids.push((await host.supervisor.start('dev')).pid)
    const asking = Array.from({ length: 4 }, ask)
    for (let release = 1; release <= 20; release += 1) {
      host.deployed.set('dev', { bundle: 'prints', release, env: { RELEASE: String(release) } })
      pids.push((await host.supervisor.start('dev')).pid)
    }
    expect(await (await fetch(`${front.url}/dev/release`)).json()).toEqual({ pid: pids.at(-1), release: '20' })
    isOver = true
    await Promise.all(asking)
    expect([...answers.keys()]).toEqual(['200 true'])

    await expect.poll(() => host.supervisor.status('dev').draining).toEqual([])
    const alive = await Promise.all(pids.map(isAlive))
    expect(alive).toEqual([...Array.from({ length: 20 }, () => false), true])
    expect(host.open.size).toBe(1)
    expect(host.supervisor.status('dev')).toMatchObject({ state: 'ready', release: 20, restarts: 0 })
  })

  test('a request that runs ends on the former child, whose data socket closes with it', async () => {
    const host = await workshop.open()
    host.deployed.set('dev', { bundle: 'prints' })
    const { pid } = await host.supervisor.start('dev')
    const former = await host.supervisor.child('dev')
    const held = host.ask('dev', '/dev/held')
    host.deployed.set('dev', { bundle: 'prints', release: 2 })
    await host.supervisor.start('dev')
    expect(host.supervisor.status('dev')).toMatchObject({ release: 2, draining: [1] })
    expect(JSON.parse((await host.ask('dev', '/dev/release')).text).pid).not.toBe(pid)
    expect(await isAlive(pid)).toBe(true)
    expect(host.open.size).toBe(2)
    const letGo = () => ask(former.socketPath, former.hopKey, '/dev/let-go', {})
    await expect.poll(async () => (await letGo()).text).toBe('1')
    expect(await held).toMatchObject({ status: 200, text: 'held' })
    await expect.poll(() => host.open.size).toBe(1)
    expect(await isAlive(pid)).toBe(false)
    expect(host.log('dev')).not.toContain('was ended')
  })

  test('an event stream ends with the former child, and the browser opens it at the next one', async () => {
    const host = await workshop.open()
    const front = await startFront({ dev: { child: () => host.supervisor.child('dev') } })
    host.deployed.set('dev', { bundle: 'friendly' })
    const { pid } = await host.supervisor.start('dev')
    const response = await fetch(`${front.url}/dev/events`)
    expect(response.status).toBe(200)
    const text = response.text().catch(() => 'cut')
    await host.supervisor.start('dev')
    await vi.waitFor(async () => expect(await isAlive(pid)).toBe(false), { timeout: 20_000 })
    expect(await text).toBe('cut')
    expect((await fetch(`${front.url}/dev/events`)).body?.cancel()).toBeDefined()
  })

  test('a release that does not start leaves the former child in place', async () => {
    const host = await workshop.open()
    host.deployed.set('dev', { bundle: 'prints', release: 16 })
    const { pid } = await host.supervisor.start('dev')
    for (const bundle of ['throws-at-import', 'signs-wrongly', 'exits']) {
      host.deployed.set('dev', { bundle, release: 17 })
      await expect(host.supervisor.start('dev')).rejects.toMatchObject({ code: 'bundle_invalid' })
    }
    expect(host.supervisor.status('dev')).toMatchObject({ state: 'ready', pid, release: 16 })
    expect((await host.ask('dev', '/dev/release')).status).toBe(200)
    expect(host.open.size).toBe(1)
  })

  test('the plan of one start is that of the caller, and later ones are as before', async () => {
    const host = await workshop.open()
    host.deployed.set('dev', { bundle: 'prints', release: 1 })
    host.deployed.set('next', { bundle: 'prints', release: 2 })
    await host.supervisor.start('dev')
    const planOfNext = vi.fn(host.planOf)
    expect(await host.supervisor.start('dev', () => planOfNext('next'))).toMatchObject({ release: 2 })
    expect(await host.supervisor.start('dev')).toMatchObject({ release: 1 })
    expect(planOfNext).toHaveBeenCalledTimes(1)
  })

  test('starts of one space run one after the other', async () => {
    const host = await workshop.open()
    host.deployed.set('dev', { bundle: 'prints' })
    const reports = await Promise.all([1, 2, 3].map(() => host.supervisor.start('dev')))
    expect(new Set(reports.map(({ pid }) => pid)).size).toBe(3)
    expect(host.supervisor.status('dev').pid).toBe(reports[2]?.pid)
    await expect.poll(() => host.open.size).toBe(1)
  })
})

describe('the former child', () => {
  function child(): { running: RunningChild; calls: string[]; exit(): void } {
    const calls: string[] = []
    let exit = () => {}
    const exited = new Promise<Awaited<RunningChild['exited']>>((resolve) => {
      exit = () => resolve({ end: { code: 0, signal: null }, isByRequest: false })
    })
    const [requests, eventStreams] = [countRequests(() => 0), countRequests(() => 0)]
    const running = {
      child: { socketPath: '', hopKey: '', begin: requests.begin },
      ...{ release: 1, pid: 1, startedAt: 0, requests, eventStreams, exited },
      notRun: [],
      memoryBytes: () => 0,
      kill: () => calls.push('SIGKILL'),
      terminate: () => calls.push('end'),
      ended: exited.then(() => {}),
    }
    return { running, calls, exit }
  }

  test('gets 30 s for its running requests, then is asked to end, then 5 s, then SIGKILL', async () => {
    const clock = createTestClock()
    const { running, calls, exit } = child()
    running.child.begin()
    const done = retire(running, clock.timer)
    await clock.advance(29_999)
    expect(calls).toEqual([])
    await clock.advance(1)
    expect(calls).toEqual(['end'])
    await clock.advance(4_999)
    expect(calls).toEqual(['end'])
    await clock.advance(1)
    expect(calls).toEqual(['end', 'SIGKILL'])
    exit()
    await done
  })

  test('waits 2 s for event streams, and longer only for other requests', async () => {
    const clock = createTestClock()
    const { running, calls, exit } = child()
    running.eventStreams.begin()
    const done = retire(running, clock.timer)
    await clock.advance(1_999)
    expect(calls).toEqual([])
    await clock.advance(100)
    expect(calls).toEqual(['end'])
    exit()
    await done
  })

  test('is asked to end as soon as its last request has ended, but not in the moment of the switch', async () => {
    const clock = createTestClock()
    const { running, calls, exit } = child()
    const done = retire(running, clock.timer)
    const [one, other] = [running.child.begin(), running.child.begin()]
    await clock.advance(100)
    one()
    one()
    await clock.advance(100)
    expect(calls).toEqual([])
    other()
    await clock.advance(0)
    expect(calls).toEqual(['end'])
    exit()
    await done
  })
})
