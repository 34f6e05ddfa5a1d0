import { cp } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Load, LoadSite } from '../../support/load-host.js'
import { type OrdinaryUser, openOrdinaryUser } from '../../support/ordinary-user.js'
import { buildRunner, makeRelease, mingo } from '../../support/space-release.js'

const modes = ['process', 'sandbox'] as const

interface Report {
  uid: number
  version: string
  loads: Load[]
}

let user: OrdinaryUser
let site: LoadSite
let report: Report
beforeAll(async () => {
  user = await openOrdinaryUser()
  const { home } = user
  await cp(dirname(dirname(mingo)), join(home, 'mingo'), { recursive: true })
  site = {
    ...{ home, modes, runner: await buildRunner(home), releaseFolder: await makeRelease(home, 'hostile') },
    mingo: join(home, 'mingo', mingo.slice(dirname(dirname(mingo)).length)),
    rounds: [
      ['heap', 'buffers', 'flood', 'long-line', 'close-pipe', 'open', 'try/abort'],
      ['loop', 'try/fill'],
    ],
  }
  report = JSON.parse(await user.run('load-host', site))
}, 300_000)
afterAll(() => user.close())

test('the host ran as an ordinary user of this version of Node', () => {
  expect(report.uid).toBeGreaterThan(0)
  expect(report.version).toBe(process.version)
  expect(report.loads).toHaveLength(modes.length * site.rounds.flat().length)
})

describe.each(modes)('in the mode %s', (mode) => {
  const of = (path: string) => report.loads.find((each) => each.mode === mode && each.path === path)

  test.each([
    // By itself, or because the host sees the whole process grow first.
    ['ATK-161 exceeds its heap', 'heap', /A request took it down/],
    ['ATK-162 aborts', 'try/abort', /has ended, with SIG(ABRT|TRAP|ILL|SEGV)\. A request took it down/],
    ['ATK-161 ATK-276 fills memory by Buffers', 'buffers', /It used \d{3,} MiB of memory\. The limit is 128 MiB/],
    ['ATK-161 ATK-237 loops endlessly', 'loop', /no heartbeat for 10 s[\s\S]*A request took it down/],
    ['ATK-185 sends 10,000 lines a second', 'flood', /It sent too much to the host\./],
    ['ATK-185 sends a line of 250 MB', 'long-line', /It sent too much to the host\./],
    ['ATK-185 closes its pipe', 'close-pipe', /It closed its pipe to the host\.|has ended, with code 0/],
    ['ATK-162 is killed from outside', 'open', /has ended, with SIGKILL\.$/m],
  ])('a child that %s ends, with all around it, and its space serves again', (_what, path, reason) => {
    const load = of(path)
    expect(load).toMatchObject({ isGone: true, isReplaced: true, isOtherWell: true })
    // What the front watches and ends is the application: Buffers of bubblewrap would never be that many.
    expect(load?.parent).toMatch(mode === 'sandbox' ? /^bwrap$/ : /^(node|MainThread)$/)
    expect(load?.log).toMatch(reason)
  })

  test('ATK-161 a child that fills /tmp is killed, or finds it full', () => {
    const load = of('try/fill')
    const killed = { answer: '{"value":null}', isGone: true, isReplaced: true }
    expect(load).toMatchObject(mode === 'process' ? killed : { answer: '{"code":"ENOSPC"}', isGone: false })
    expect(load?.isOtherWell).toBe(true)
    if (mode === 'process') expect(load?.log).toContain('temporary files have more than 16 MiB')
  })
})

test('ATK-186 a front with capabilities gives a child none of them, in both modes', async () => {
  if (process.getuid?.() !== 0) return
  const ambient = { ...site, rounds: [['try/setuid']] }
  const { loads }: Report = JSON.parse(await user.run('load-host', ambient, { ambient: ['setuid', 'kill'] }))
  expect(loads.map(({ mode, answer, capabilities }) => ({ mode, answer, capabilities }))).toEqual(
    modes.map((mode) => ({ mode, answer: expect.stringContaining('"code"'), capabilities: '0000000000000000' })),
  )
}, 180_000)
