import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openSupervisedWorkshop, type Supervised, type SupervisedWorkshop } from '../../support/supervised.js'

let workshop: SupervisedWorkshop
let host: Supervised
beforeAll(async () => {
  workshop = await openSupervisedWorkshop()
  host = await workshop.open()
})
afterAll(() => workshop.close())

const stopped = {
  state: 'stopped',
  pid: null,
  release: null,
  startedAt: null,
  memoryBytes: 0,
  restarts: 0,
  requests: 0,
  draining: [],
}

describe('a start', () => {
  test('ends with a child that serves, and stop leaves nothing of it behind', async () => {
    host.deployed.set('one', { bundle: 'friendly', release: 17 })
    expect(host.supervisor.status('one')).toEqual(stopped)
    const report = await host.supervisor.start('one')
    expect(report).toEqual({
      release: 17,
      pid: expect.any(Number),
      notRun: expect.arrayContaining(['queue orders']),
      milliseconds: expect.any(Number),
    })
    expect(host.supervisor.status('one')).toMatchObject({ state: 'ready', pid: report.pid, release: 17, restarts: 0 })
    expect((await host.ask('one', '/dev/open')).status).toBe(200)
    expect(host.log('one')).toContain('startup ran')
    const child = await host.supervisor.child('one')
    expect(await host.supervisor.child('one')).toBe(child)
    expect(host.open.size).toBe(1)

    const [note = ''] = (await readdir(host.runFolder)).filter((name) => name.endsWith('.pid'))
    expect(note).toBe('one-1.pid')
    expect(await readFile(join(host.runFolder, note), 'utf8')).toMatch(new RegExp(`^${report.pid} \\S+\\n$`))
    await expect.poll(() => host.supervisor.status('one').memoryBytes).toBeGreaterThan(10_000_000)

    await host.supervisor.stop('one')
    expect(host.supervisor.status('one')).toEqual(stopped)
    expect(await readdir(host.runFolder)).toEqual([])
    expect(host.open.size).toBe(0)
    await expect(host.supervisor.child('one')).rejects.toMatchObject({ code: 'application_starting' })
  })

  test('ATK-166 no value of the environment stands in the arguments or the first environment of the process', async () => {
    host.deployed.set('env', { bundle: 'friendly', env: { API_SECRET: 'a-very-secret-value' } })
    const { pid } = await host.supervisor.start('env')
    expect((await host.ask('env', '/dev/env')).status).toBe(401)
    for (const name of ['cmdline', 'environ']) {
      expect(await readFile(`/proc/${pid}/${name}`, 'utf8')).not.toContain('a-very-secret-value')
    }
    const names = (await readFile(`/proc/${pid}/environ`, 'utf8')).split('\0').map((each) => each.split('=')[0])
    expect(names.filter((name) => name !== '')).toEqual(['PATH', 'HOME', 'TZ', 'LANG', 'NODE_ENV'])
  })

  test.each([
    ['throws-at-import', 'no key is set', /throws-at-import\.js:1:\d+$/],
    ['rejects-in-startup', 'no index could be made', /rejects-in-startup\.js:4:\d+$/],
    ['forgets-at-import', 'a forgotten promise at import', /forgets-at-import\.js:3:\d+$/],
    ['no-application', 'export default app.init()', null],
    ['exits', 'ended with code 0 before it was ready', null],
    ['listens-elsewhere', 'does not listen on its socket', null],
    ['signs-wrongly', 'is not signed by it', null],
    ['says-it-listens', 'does not listen on its socket', null],
  ])('ATK-162 ATK-184 a bundle that %s is refused, and the fault names why and where', async (bundle, why, where) => {
    host.deployed.set(bundle, { bundle, release: 3 })
    const fault = await host.supervisor.start(bundle).catch((error: unknown) => error)
    expect(fault).toMatchObject({ name: 'ReleaseFault', code: 'bundle_invalid', status: 422 })
    expect(fault).toHaveProperty('message', expect.stringContaining(why))
    expect(fault).toHaveProperty('position', where === null ? null : expect.stringMatching(where))
    expect(String(fault)).not.toContain(workshop.folder)
    expect(host.supervisor.status(bundle)).toEqual(stopped)
  })

  test('ATK-162 a bundle that is not ready in time is refused, and nothing of it is left', async () => {
    const before = await readdir(host.runFolder)
    host.deployed.set('late', { bundle: 'never-listens', limits: { startMs: 1_000 } })
    await expect(host.supervisor.start('late')).rejects.toMatchObject({
      code: 'application_timeout',
      message: expect.stringMatching(/^It was not ready after 1 s\.$/),
    })
    expect(await readdir(host.runFolder)).toEqual(before)
  })

  test('ATK-166 an error that holds a value of the environment is reported without it', async () => {
    host.deployed.set('leaks', { bundle: 'throws-secret', env: { API_SECRET: 'a-very-secret-value' } })
    const fault = await host.supervisor.start('leaks').catch((error: unknown) => error)
    expect(fault).toHaveProperty('message', expect.stringContaining('bad key ***'))
    expect(host.log('leaks')).not.toContain('a-very-secret-value')
  })
})
