import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import type { ChildLimits } from '../../../src/host/children/plan.js'
import { isAlive, openSupervisedWorkshop, type Supervised, type SupervisedWorkshop } from '../../support/supervised.js'

const mebibyte = 1024 * 1024

let workshop: SupervisedWorkshop
let host: Supervised
beforeAll(async () => {
  workshop = await openSupervisedWorkshop()
  host = await workshop.open()
  host.deployed.set('other', { bundle: 'friendly' })
  await host.supervisor.start('other')
})
afterAll(() => workshop.close())

async function start(spaceId: string, limits: Partial<ChildLimits> = {}): Promise<number> {
  host.deployed.set(spaceId, { bundle: 'hostile', limits })
  return (await host.supervisor.start(spaceId)).pid
}

async function dies(route: string, reason: string): Promise<void> {
  const spaceId = route.replace('/', '-')
  const pid = await start(spaceId, { temporaryBytes: 16 * mebibyte, memoryBytes: 128 * mebibyte })
  void host.ask(spaceId, `/dev/${route}`).catch(() => {})
  await isReplaced(spaceId, pid)
  expect(host.log(spaceId)).toContain(reason)
  expect(process.memoryUsage.rss()).toBeLessThan(1024 * mebibyte)
}

/** The child is dead, and its space serves again. */
async function isReplaced(spaceId: string, pid: number): Promise<void> {
  await vi.waitFor(async () => expect(await isAlive(pid)).toBe(false), { timeout: 30_000, interval: 100 })
  await vi.waitFor(async () => expect((await host.ask(spaceId, '/dev/try/evil')).status).toBe(200), { timeout: 20_000 })
  expect((await host.ask('other', '/dev/open')).status).toBe(200)
}

describe('a child is killed, and started anew, that', () => {
  // Both are noticed after 10 s.
  test.concurrent.each([
    ['ATK-161 ATK-237 loops endlessly', 'loop', 'no heartbeat for 10 s', true],
    ['ATK-161 fills the disk', 'try/fill', 'temporary files have more than 16 MiB', false],
  ] as const)('%s', async (_what, route, reason, isByRequest) => {
    await dies(route, reason)
    expect(host.log(route.replace('/', '-')).includes('A request took it down')).toBe(isByRequest)
  })

  test.each([
    ['ATK-161 fills memory by Buffers', 'buffers', 'MiB of memory'],
    ['ATK-185 sends 10,000 lines a second', 'flood', 'It sent too much to the host.'],
    ['ATK-185 sends a line of 250 MB', 'long-line', 'It sent too much to the host.'],
    ['ATK-185 closes its pipe', 'close-pipe', ''],
  ])('%s', (_what, route, reason) => dies(route, reason))

  test('ATK-161 exceeds its heap', async () => {
    const pid = await start('heap', { memoryBytes: 64 * mebibyte })
    await host.ask('heap', '/dev/heap').catch(() => {})
    await isReplaced('heap', pid)
  })
})

test('ATK-161 a child that prints 5 MB in one line and 20,000 lines at once lives, and its log stays small', async () => {
  const pid = await start('prints')
  await host.ask('prints', '/dev/log-line')
  await host.ask('prints', '/dev/log-flood')
  await vi.waitFor(() => expect(host.log('prints')).toContain('lines were dropped'), { timeout: 10_000 })
  expect(host.log('prints')).toMatch(/y{16384} … \(\d+ more\)/)
  expect(host.log('prints').length).toBeLessThan(5 * mebibyte)
  expect(await isAlive(pid)).toBe(true)
})

test('ATK-161 a memory bomb at import is a release that does not start', async () => {
  host.deployed.set('bomb', { bundle: 'fills-memory-at-import', limits: { memoryBytes: 64 * mebibyte } })
  await expect(host.supervisor.start('bomb')).rejects.toMatchObject({
    code: 'bundle_invalid',
    message: expect.stringContaining('MiB of memory'),
  })
})

test('ATK-157 ATK-160 what the runner refuses alone, it refuses here too', async () => {
  await start('tries')
  for (const name of ['passwd', 'environ', 'parent', 'write', 'spawn', 'worker', 'addon']) {
    const { text } = await host.ask('tries', `/dev/try/${name}`)
    expect(JSON.parse(text)).toEqual({
      code: expect.stringMatching(/^(ERR_ACCESS_DENIED|built_in_refused)$/),
    })
  }
  expect(JSON.parse((await host.ask('tries', '/dev/try/evil')).text)).toEqual({ value: null })
  await host.ask('tries', '/dev/signal')
  expect(host.log('tries')).not.toMatch(/Debugger listening/)
})

test('ATK-162 a child that ignores SIGTERM is killed after the switch', async () => {
  host.deployed.set('stubborn', { bundle: 'prints' })
  const { pid } = await host.supervisor.start('stubborn')
  await host.ask('stubborn', '/dev/stubborn')
  host.deployed.set('stubborn', { bundle: 'prints', release: 2 })
  await host.supervisor.start('stubborn')
  await vi.waitFor(async () => expect(await isAlive(pid)).toBe(false), { timeout: 10_000 })
})

test('ATK-166 nothing of a value of the environment reaches the log of the space, however it is printed', async () => {
  const secret = 'T0p "secret" & värry/long+value'
  host.deployed.set('secret', { bundle: 'prints', env: { API_SECRET: secret } })
  await host.supervisor.start('secret')
  const half = secret.length / 2
  const out = [
    ...[secret, '\n', secret.slice(0, half), secret.slice(half), '\n'],
    ...[JSON.stringify({ secret }), '\n', encodeURIComponent(secret), '\n'],
    ...[Buffer.from(secret).toString('base64'), '\n', Buffer.from(`user:${secret}`).toString('base64'), '\n'],
    ...['GET /x?apikey=0123-4567&y Bearer abcdef.ghi', '\n'],
  ]
  await host.ask('secret', '/dev/print', { out, err: out })
  await expect.poll(() => host.log('secret').match(/apikey=\*\*\*&y Bearer \*\*\*/g)).toHaveLength(2)
  expect(host.log('secret').match(/\*\*\*/g)).toHaveLength(16)
  for (const part of ['T0p', '& v', 'long', 'VDBw', '0123', 'abcdef']) expect(host.log('secret')).not.toContain(part)
})
