import { execFile } from 'node:child_process'
import { chmod, chown, copyFile, cp, link, mkdir, mkdtemp, readdir, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import Database from 'better-sqlite3'
import { build } from 'esbuild'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type EscapeReport, type EscapeSite, escapeModes, type ModeName } from '../../support/escape-report.js'
import { mingo } from '../../support/space-release.js'

const root = fileURLToPath(new URL('../../..', import.meta.url))
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
  'names command': ['refused', 'refused', 'refused', 'refused', 'refused'],
  'names place': ['works', 'refused', 'refused', 'refused', 'refused'],
  'names proc': ['refused', 'refused', 'refused', 'works', 'works'],
  'reach process': ['refused', 'refused', 'refused', 'refused', 'refused'],
  'reach path': ['works', 'refused', 'refused', 'refused', 'refused'],
  'reach abstract': ['works', 'works', 'refused', 'works', 'refused'],
  'reach network': ['works', 'works', 'refused', 'works', 'refused'],
}

/** Not in `/tmp`, which a sandbox has of its own: whatever lies there could be made anew in it. */
const place = '/var/tmp'

let home: string
let programs: string
let report: EscapeReport
beforeAll(async () => {
  home = await mkdtemp(join(place, 'latchkey-escapes-'))
  programs = await mkdtemp(join(place, 'latchkey-node-'))
  report = await runAsOrdinaryUser(await makeSite())
}, 180_000)
afterAll(async () => {
  for (const folder of [home, programs]) await rm(folder, { recursive: true, force: true })
})

async function makeSite(): Promise<EscapeSite> {
  const site = {
    home,
    data: join(home, 'data'),
    releaseFolder: join(home, 'release'),
    runner: join(home, 'runner/runner.mjs'),
    openRunner: join(home, 'runner/open.mjs'),
    mingo: join(home, 'mingo', mingo.slice(dirname(dirname(mingo)).length)),
    database: join(home, 'secrets.db'),
    modes,
  }
  await mkdir(join(site.releaseFolder, 'assets'), { recursive: true })
  await cp(dirname(dirname(mingo)), join(home, 'mingo'), { recursive: true })
  const database = new Database(site.database)
  database.exec("create table secrets (value text); insert into secrets values ('CANARY')")
  database.close()
  const shared = { bundle: true, platform: 'node', format: 'esm', target: 'node20', logLevel: 'error' } as const
  const bundleRequire =
    "import { createRequire as bundleRequire } from 'node:module'; var require = bundleRequire(import.meta.url);"
  const runner = { ...shared, entryPoints: [join(root, 'src/host/runner/main.ts')], ignoreAnnotations: true }
  await build({ ...runner, outfile: site.runner })
  await build({ ...runner, outfile: site.openRunner, plugins: [withoutWall] })
  await build({
    ...shared,
    entryPoints: [join(root, 'test/host/bundles/escapes/application.js')],
    outfile: join(site.releaseFolder, 'bundle.mjs'),
    banner: { js: bundleRequire },
  })
  await build({
    ...shared,
    entryPoints: [join(root, 'test/support/escape-host.ts')],
    outfile: join(home, 'host.mjs'),
    external: ['better-sqlite3'],
    banner: { js: bundleRequire },
  })
  return site
}

/** A runner that takes nothing away. */
const withoutWall = {
  name: 'without-wall',
  setup({ onLoad }: { onLoad(options: { filter: RegExp }, load: () => { contents: string }): void }) {
    onLoad({ filter: /runner[/\\]built-ins\.ts$/ }, () => ({ contents: 'export function closeBuiltIns() {}' }))
  },
}

const ordinary = 64_123

/** A root has no sandbox, so root becomes an ordinary user first. */
async function runAsOrdinaryUser(site: EscapeSite): Promise<EscapeReport> {
  const isRoot = process.getuid?.() === 0
  let node = process.execPath
  if (isRoot) {
    // The user may not reach a Node below the home folder of root.
    node = join(programs, 'node')
    await chmod(programs, 0o755)
    await link(process.execPath, node).catch(() => copyFile(process.execPath, node))
    await chmod(home, 0o700)
    for (const path of [home, ...(await readdir(home, { recursive: true })).map((name) => join(home, name))]) {
      await chown(path, ordinary, ordinary)
    }
  }
  const become = ['--reuid', String(ordinary), '--regid', String(ordinary), '--clear-groups', '--inh-caps', '-all']
  const [file = node, ...args] = [...(isRoot ? ['setpriv', ...become] : []), node, join(home, 'host.mjs')]
  const env = { PATH: '/usr/bin:/bin', HOME: home, TMPDIR: home, NODE_ENV: 'test' }
  const { stdout } = await promisify(execFile)(file, [...args, JSON.stringify(site)], {
    ...{ cwd: home, env, maxBuffer: 64 * 1024 * 1024 },
  })
  return JSON.parse(stdout)
}

test('the host ran as an ordinary user of this version of Node, and tried each mode', () => {
  expect(report.uid).toBeGreaterThan(0)
  expect(report.version).toBe(process.version)
  expect(Object.keys(report.changed)).toEqual(modes)
  expect(Object.keys(escapeModes)).toEqual(modes)
  for (const mode of modes) expect(report.tries.filter((each) => each.mode === mode).length).toBeGreaterThan(250)
})

const hasLoot = ({ loot }: { loot?: unknown }) => loot !== undefined && loot !== null
const kindOf = ({ group, name }: { group: string; name: string }) =>
  group === 'names' || group === 'reach' ? `${group} ${name.split(':')[0]}` : group

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
