import { cp, mkdir } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import Database from 'better-sqlite3'
import { build } from 'esbuild'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type EscapeReport, type EscapeSite, escapeModes, type ModeName } from '../../support/escape-report.js'
import { idleEscapes } from '../../support/idle-escapes.js'
import { bundled, bundledRequire, type OrdinaryUser, openOrdinaryUser } from '../../support/ordinary-user.js'
import { mingo } from '../../support/space-release.js'

const root = fileURLToPath(new URL('../../..', import.meta.url))
/** Those with walls. */
const modes: readonly ModeName[] = [
  'process',
  'sandbox',
  'sandbox without a network',
  'sandbox, permission model off',
  'sandbox alone',
]

/** `inside`: it may work within the sandbox, which has nothing of the host. */
type Verdict = 'refused' | 'works' | 'inside'

/**
 * What tries of each kind come to, in the order of the modes. Kinds that are missing here fail. `works` is what
 * docs/host/isolation.md says that an application can do.
 */
const verdicts: Readonly<Record<string, readonly Verdict[]>> = {
  reads: ['refused', 'refused', 'refused', 'refused', 'refused'],
  changes: ['refused', 'refused', 'refused', 'refused', 'refused'],
  builtIns: ['refused', 'refused', 'refused', 'refused', 'inside'],
  starts: ['refused', 'refused', 'refused', 'refused', 'inside'],
  'starts engine': ['refused', 'refused', 'refused', 'inside', 'inside'],
  'names command': ['refused', 'refused', 'refused', 'refused', 'refused'],
  'names place': ['works', 'refused', 'refused', 'refused', 'refused'],
  'names proc': ['refused', 'refused', 'refused', 'works', 'works'],
  'reach process': ['refused', 'refused', 'refused', 'refused', 'refused'],
  'reach path': ['works', 'refused', 'refused', 'refused', 'refused'],
  'reach abstract': ['works', 'works', 'refused', 'works', 'refused'],
  'reach network': ['works', 'works', 'refused', 'works', 'refused'],
}

let user: OrdinaryUser
let report: EscapeReport
beforeAll(async () => {
  user = await openOrdinaryUser()
  report = JSON.parse(await user.run('escape-host', await makeSite(user.home)))
}, 300_000)
afterAll(() => user.close())

async function makeSite(home: string): Promise<EscapeSite> {
  const site = {
    home,
    data: join(home, 'data'),
    releaseFolder: join(home, 'release'),
    runner: join(home, 'runner/runner.mjs'),
    openRunner: join(home, 'runner/open.mjs'),
    mingo: join(home, 'mingo', mingo.slice(dirname(dirname(mingo)).length)),
    database: join(home, 'secrets.db'),
    modes: [...modes, 'no walls'] as const,
  }
  await mkdir(join(site.releaseFolder, 'assets'), { recursive: true })
  await cp(dirname(dirname(mingo)), join(home, 'mingo'), { recursive: true })
  const database = new Database(site.database)
  database.exec("create table secrets (value text); insert into secrets values ('CANARY')")
  database.close()
  const runner = { ...bundled, entryPoints: [join(root, 'src/host/runner/main.ts')], ignoreAnnotations: true }
  await build({ ...runner, outfile: site.runner })
  await build({ ...runner, outfile: site.openRunner, plugins: [withoutWall] })
  const application = join(root, 'test/host/bundles/escapes/application.js')
  const outfile = join(site.releaseFolder, 'bundle.mjs')
  await build({ ...bundled, entryPoints: [application], outfile, banner: bundledRequire })
  return site
}

/** A runner that takes nothing away. */
const withoutWall = {
  name: 'without-wall',
  setup({ onLoad }: { onLoad(options: { filter: RegExp }, load: () => { contents: string }): void }) {
    onLoad({ filter: /runner[/\\]built-ins\.ts$/ }, () => ({ contents: 'export function closeBuiltIns() {}' }))
    onLoad({ filter: /runner[/\\]ignore-debugger\.ts$/ }, () => ({ contents: 'export function ignoreDebugger() {}' }))
  },
}

test('the host ran as an ordinary user of this version of Node, and tried each mode', () => {
  expect(report.uid).toBeGreaterThan(0)
  expect(report.version).toBe(process.version)
  expect(Object.keys(report.changed)).toEqual([...modes, 'no walls'])
  expect(Object.keys(escapeModes)).toEqual([...modes, 'no walls'])
  for (const mode of modes) expect(report.tries.filter((each) => each.mode === mode).length).toBeGreaterThan(250)
})

const hasLoot = ({ loot }: { loot?: unknown }) => loot !== undefined && loot !== null
const kindOf = ({ group, name }: { group: string; name: string }) =>
  group === 'names' || group === 'reach' || name.startsWith('engine:') ? `${group} ${name.split(':')[0]}` : group

test('how many tries there were, and how many reached something outside', () => {
  const lines = modes.map((mode) => {
    const tried = report.tries.filter((each) => each.mode === mode)
    const of = (verdict: Verdict) => tried.filter((each) => verdicts[kindOf(each)]?.[modes.indexOf(mode)] === verdict)
    const reached = (verdict: Verdict) => of(verdict).filter(hasLoot).length
    return `${mode}: ${tried.length} tries, ${reached('refused')} escaped, ${reached('works')} did what the docs name`
  })
  process.stdout.write(`Node ${report.version}\n${lines.join('\n')}\n`)
  expect(lines.filter((line) => !line.includes(' 0 escaped'))).toEqual([])
})

describe('without any wall', () => {
  const keyOf = ({ group, name }: { group: string; name: string }) => `${group} ${name}`

  test('each try reaches what it is for, but for those that are known not to', () => {
    const reached = new Set(report.tries.filter(hasLoot).map(keyOf))
    const idle = [...new Set(report.tries.map(keyOf))].filter((key) => !reached.has(key))
    expect(idle.filter((key) => !idleEscapes.some(({ tries }) => tries.test(key)))).toEqual([])
    for (const { tries } of idleEscapes) expect(idle).toContainEqual(expect.stringMatching(tries))
  })

  test('what changes files of the host is seen', () => {
    expect(report.changed['no walls']?.map((path) => path.replace(user.home, ''))).toEqual(
      expect.arrayContaining(['/data/host.db', '/data/master.key', '/data/spaces/other/releases/1/bundle.mjs']),
    )
  })
})

test('each kind of try has a verdict for each mode', () => {
  expect([...new Set(report.tries.map(kindOf))].sort()).toEqual(Object.keys(verdicts).sort())
})

describe.each(modes)('ATK-157 ATK-158 ATK-159 ATK-160 ATK-230 ATK-231 ATK-233 ATK-242 in the mode %s', (mode) => {
  test.each(Object.keys(verdicts))('%s', (kind) => {
    const verdict = verdicts[kind]?.[modes.indexOf(mode)]
    const tried = report.tries.filter((each) => each.mode === mode && kindOf(each) === kind)
    const reached = tried.filter(hasLoot)
    expect(tried.length).toBeGreaterThan(0)
    if (verdict === 'refused') expect(reached).toEqual([])
    if (verdict === 'works') expect(reached).not.toEqual([])
  })

  test('no file of the host has changed', () => {
    expect(report.changed[mode]).toEqual([])
  })
})
