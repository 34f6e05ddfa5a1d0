import type { Outcome, Topic } from '../../model/doctor/report.js'
import type { Settings } from '../../settings.js'
import { nodeBringsSqlite } from '../../store/sql/engine/sqlite-driver.js'
import { type DoctorContext, defineCheck } from './context.js'

/** `engines` of package.json. */
export const supportedNode = '^20.19 || >=22.12'

/** The optional packages that a setting may need: `peerDependencies` of package.json. */
export const optionalPackages = {
  '@node-rs/argon2': '^2',
  'better-sqlite3': '>=11',
  ioredis: '^5.4.2 || ^6',
  mysql2: '^3.9',
  pg: '^8.11',
} as const

/** When the last security fix of a major version of Node comes out (github.com/nodejs/Release). */
const endOfLife: Readonly<Record<number, string>> = {
  20: '2026-04-30',
  21: '2024-06-01',
  22: '2027-04-30',
  23: '2025-06-01',
  24: '2028-04-30',
  25: '2026-06-01',
  26: '2029-04-30',
}

export function processChecks(context: DoctorContext): Topic {
  return [
    defineCheck('node_version', () => judgeNode(process.versions, context.world.now())),
    defineCheck('package_missing', () => judgePackages(context)),
  ]
}

/** @param nowMs Unix milliseconds */
export function judgeNode({ node, bun, deno }: Readonly<Record<string, string | undefined>>, nowMs: number): Outcome {
  if (bun !== undefined || deno !== undefined || node === undefined) return { skipped: 'This runtime is not Node.' }
  if (!isInRange(node, supportedNode)) return { finding: `Node ${node} runs here. Latchkey supports ${supportedNode}.` }
  const ended = endOfLife[Number.parseInt(node, 10)]
  if (ended === undefined || nowMs < Date.parse(ended)) return null
  return { finding: `Node ${node} runs here. Its last security fixes came out on ${ended}.` }
}

function judgePackages({ settings, installedVersion }: DoctorContext): Outcome {
  return neededPackages(settings).flatMap(({ setting, name }) => {
    const range = optionalPackages[name]
    const version = installedVersion(name)
    if (version !== null && isInRange(version, range)) return []
    const state = version === null ? 'which cannot be found' : `but version ${version} is installed`
    const [newest = range] = range.split(' || ').reverse()
    return [{ finding: `${setting} needs ${name} ${range}, ${state}.`, cure: `npm install "${name}@${newest}"` }]
  })
}

function neededPackages({
  database,
  password,
  redis,
}: Settings): { setting: string; name: keyof typeof optionalPackages }[] {
  const sqlite = database.kind === 'sqlite' && !nodeBringsSqlite()
  return [
    ...(password.algorithm === 'argon2id' ? [{ setting: 'password.algorithm', name: '@node-rs/argon2' as const }] : []),
    ...(database.kind === 'postgres' ? [{ setting: 'database', name: 'pg' as const }] : []),
    ...(database.kind === 'mysql' ? [{ setting: 'database', name: 'mysql2' as const }] : []),
    ...(sqlite ? [{ setting: 'database', name: 'better-sqlite3' as const }] : []),
    ...(typeof redis === 'string' ? [{ setting: 'redis', name: 'ioredis' as const }] : []),
  ]
}

/**
 * Whether a version is in a range of npm. Only what our `package.json` writes is understood: alternatives (`||`) of `^` and
 * `>=`, with or without minor and patch. A prerelease counts as its release.
 *
 * @example isInRange('5.4.3', '^5.4.2 || ^6') // true
 */
export function isInRange(version: string, range: string): boolean {
  const actual = partsOf(version)
  return actual !== null && range.split('||').some((one) => isIn(actual, one.trim()))
}

type Parts = readonly [major: number, minor: number, patch: number]

function isIn(actual: Parts, comparator: string): boolean {
  const [, operator, text = ''] = /^(\^|>=)(.+)$/.exec(comparator) ?? []
  const least = partsOf(text)
  if (least === null || compare(actual, least) < 0) return false
  return operator === '>=' || actual[0] === least[0]
}

function partsOf(text: string): Parts | null {
  const [, major, minor = '0', patch = '0'] = /^v?(\d+)(?:\.(\d+))?(?:\.(\d+))?/.exec(text) ?? []
  return major === undefined ? null : [Number(major), Number(minor), Number(patch)]
}

function compare(one: Parts, other: Parts): number {
  return one[0] - other[0] || one[1] - other[1] || one[2] - other[2]
}
