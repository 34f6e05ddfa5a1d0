import { access, readFile } from 'node:fs/promises'
import { isLoopbackHost } from '../../lib/url.js'
import { hostCheckRows } from '../../model/doctor/host-checks.js'
import type { Check, CheckPlace, Outcome, Topic } from '../../model/doctor/report.js'
import { registrableDomain } from '../../settings/passkey-site.js'
import type { Isolation } from '../children/isolation.js'
import { isLow, readSpace } from '../folder/disk.js'
import type { Folder } from '../folder/folder.js'
import { findLostGenerations } from '../folder/generation-files.js'
import type { HostSettings } from '../settings/host-settings.js'
import type { PeopleNouns } from '../store/people.js'

interface FolderFacts {
  settings: Pick<HostSettings, 'adminUrl' | 'baseUrl' | 'listen' | 'adminListen' | 'trustedProxies' | 'limits'>
  folder: Pick<Folder, 'path' | 'spaces' | 'masterKey'>
}

/** The release in force of a space. */
export interface DeployedCode {
  space: string
  /** The path of its bundle. */
  bundle: string
}

/** When a space was backed up. */
export interface SpaceBackup {
  space: string
  /** When its last backup was made. Without a backup: when the space was created. Unix seconds. */
  since: number
  hasBackup: boolean
}

export interface RunningFacts extends FolderFacts {
  people: Pick<PeopleNouns, 'projectRights' | 'projectTokens'>
  /** Names of the spaces that are not started any more. */
  crashedSpaces(): Promise<readonly string[]>
  isolation: Pick<Isolation, 'mode' | 'absent'>
  deployed(): Promise<readonly DeployedCode[]>
  backups(): Promise<readonly SpaceBackup[]>
  /** Unix seconds. */
  now(): number
}

/** The checks of a running host. */
export function hostChecks(facts: RunningFacts): Topic {
  return [
    defineCheck('isolation_weak', () => judgeIsolation(facts)),
    defineCheck('sandbox_absent', () => judgeSandbox(facts)),
    defineCheck('network_open', () => judgeNetwork(facts)),
    defineCheck('space_crashed', () => judgeCrashes(facts)),
    defineCheck('query_scope', () => judgeQueries(facts)),
    defineCheck('backup_old', () => judgeBackups(facts)),
    ...folderChecks(facts, 'S'),
  ]
}

/** The checks that need no store: what the tool judges on the machine of the host. */
export function folderChecks({ settings, folder }: FolderFacts, place: CheckPlace): Topic {
  const checks = [
    defineCheck('admin_same_site', () => judgeSite(settings)),
    defineCheck('master_key_unsaved', () => judgeMasterKey(folder)),
    defineCheck('generation_lost', () => judgeGenerations(folder)),
    defineCheck('disk_low', () => judgeDisk(folder)),
  ]
  return checks.filter(({ row }) => row.where.includes(place))
}

function defineCheck(code: keyof typeof hostCheckRows, check: Check['check']): Check {
  return { code, row: hostCheckRows[code], check }
}

async function judgeIsolation({ settings, people, isolation }: RunningFacts): Promise<Outcome> {
  const findings: string[] = []
  if (isolation.mode === 'process') findings.push(...(await partiesOf(people)))
  const { network } = settings.limits
  const isReachable = network === true || (network !== false && network.length > 0)
  if (isReachable && trustsLoopback(settings)) {
    findings.push('`trustedProxies` trusts this machine, so code of a space can claim any client address.')
  }
  return findings.map((finding) => ({ finding }))
}

/** Those who can reach what is not theirs. */
async function partiesOf(people: RunningFacts['people']): Promise<string[]> {
  const { users } = await people.projectRights.counted()
  const admins = new Set(users.filter(({ right }) => right === 'ADMIN').map(({ userId }) => userId))
  const narrowed = (await people.projectTokens.list()).filter(({ spaces }) => spaces !== null)
  return [
    ...(admins.size > 1 ? [`${admins.size} people may deploy. Each can read all spaces.`] : []),
    ...(narrowed.length > 0
      ? [`The admin token ${narrowed[0]?.id} is for some spaces only, but code that it deploys can reach all.`]
      : []),
  ]
}

function judgeSandbox({ isolation: { absent } }: RunningFacts): Outcome {
  return absent === null ? null : { finding: `${absent.cause} ${absent.cure}` }
}

async function judgeNetwork({ isolation, settings }: RunningFacts): Promise<Outcome> {
  const { network } = settings.limits
  if (isolation.mode !== 'sandbox' || network === false || (network !== true && network.length === 0)) return null
  const own = [settings.listen, settings.adminListen].flatMap((each) => (each.kind === 'tcp' ? [each.port] : []))
  const listening = await localListeners(own)
  if (listening.length === 0) return null
  return { finding: `Applications with a network reach: ${listening.join(', ')}.` }
}

/** A number of proxies trusts whatever connects, so also code on this machine. */
function trustsLoopback({ trustedProxies, listen }: RunningFacts['settings']): boolean {
  if (trustedProxies.kind === 'hops') return listen.kind === 'tcp'
  return trustedProxies.kind === 'cidrs' && trustedProxies.cidrs.some((each) => /^(?:127\.|::1(?:\/|$))/.test(each))
}

async function judgeCrashes({ crashedSpaces }: RunningFacts): Promise<Outcome> {
  return (await crashedSpaces()).map((name) => ({ finding: `The space ${name} is in the state crashed.` }))
}

const backupSeconds = 7 * 24 * 60 * 60

async function judgeBackups({ backups, now }: RunningFacts): Promise<Outcome> {
  const old = (await backups()).filter(({ since }) => now() - since > backupSeconds)
  return old.map(({ space, since, hasBackup }) => {
    const day = new Date(since * 1000).toISOString().slice(0, 10)
    return { finding: hasBackup ? `The last backup of ${space} is of ${day}.` : `The space ${space} has no backup.` }
  })
}

async function judgeQueries({ deployed }: RunningFacts): Promise<Outcome> {
  const findings: { finding: string }[] = []
  for (const { space, bundle } of await deployed()) {
    // A release may be taken away meanwhile.
    const code = await readFile(bundle, 'utf8').catch(() => '')
    if (writesQueryField(code))
      findings.push({ finding: `The application of the space ${space} writes a field of the query.` })
  }
  return findings
}

function judgeSite({ adminUrl, baseUrl }: FolderFacts['settings']): Outcome {
  const [admin, base] = [new URL(adminUrl), new URL(baseUrl)]
  if (isLoopbackHost(admin.hostname) || !isSameSite(admin.hostname, base.hostname)) return null
  return { finding: `${admin.hostname} and ${base.hostname} are below one domain.` }
}

async function judgeMasterKey({ masterKey }: FolderFacts['folder']): Promise<Outcome> {
  const exists = await access(masterKey).then(
    () => true,
    () => false,
  )
  return exists ? { finding: `The key is in ${masterKey}.` } : null
}

async function judgeGenerations({ spaces }: FolderFacts['folder']): Promise<Outcome> {
  return (await findLostGenerations(spaces)).map((path) => ({ finding: `${path} holds newer data.` }))
}

async function judgeDisk({ path }: FolderFacts['folder']): Promise<Outcome> {
  const space = await readSpace(path)
  return isLow(space) ? { finding: `${Math.floor(space.free / 1024 ** 2)} MiB are free.` } : null
}

const listens = '0A'
/** More are counted only. */
const mostNamed = 8

/**
 * What listens on this machine on loopback or on every address, and in the abstract namespace of unix sockets: programs there
 * often ask for no password.
 *
 * @param own ports of the host
 */
export async function localListeners(own: readonly number[]): Promise<string[]> {
  const [v4, v6, unix] = await Promise.all(['tcp', 'tcp6', 'unix'].map(readTable))
  const ports = new Set([...(v4 ?? []), ...(v6 ?? [])].flatMap((columns) => localPort(columns)))
  const names = new Set((unix ?? []).flatMap((columns) => abstractName(columns)))
  const found = [
    ...[...ports].filter((port) => !own.includes(port)).map((port) => `port ${port}`),
    ...[...names].map((name) => `the abstract socket ${name}`),
  ]
  const more = found.length - mostNamed
  return more > 0 ? [...found.slice(0, mostNamed), `${more} more`] : found
}

async function readTable(name: string): Promise<string[][]> {
  const text = await readFile(`/proc/net/${name}`, 'utf8').catch(() => '')
  return text.split('\n').map((line) => line.trim().split(/\s+/))
}

/** An address is hexadecimal, its words as this processor writes them: 127.x.y.z ends in `7F`, also as `::ffff:127.x.y.z`. */
const local = /^(?:(?:0{16}F{4}0{4})?[0-9A-F]{6}7F|0{24}01000000|0{8}|0{16}F{4}0{12}|0{32})$/

function localPort([, place = '', , state]: readonly string[]): number[] {
  const [address = '', port = ''] = place.split(':')
  return state === listens && local.test(address) ? [Number.parseInt(port, 16)] : []
}

/** `@` stands for the zero byte. The flag says that the socket takes connections. */
function abstractName(columns: readonly string[]): string[] {
  const [, , , flags, , , , name = ''] = columns
  return flags === '00010000' && name.startsWith('@') ? [name.replaceAll(/[^ -~]/g, '?').slice(0, 60)] : []
}

/**
 * Whether the application's own code writes a field of the query, as in `req.query.userId = user.id`. crudlify takes its filter
 * from there, but a client switches such fields off by `q={}`. To write `q` itself is the right way.
 *
 * Packages are left out: esbuild writes `// <path>` above each module, and no other comments.
 *
 * @param bundle the code of a release
 */
export function writesQueryField(bundle: string): boolean {
  const writing = /\breq\w*\.query(?:\.(?!q\b)[\w$]+|\[(?!["'`]q["'`])[^\]\n]{1,80}\])\s*=(?![=>])/g
  for (const { index } of bundle.matchAll(writing)) {
    const comment = bundle.lastIndexOf('\n// ', index)
    const path = bundle.slice(comment + 1, bundle.indexOf('\n', comment + 1))
    if (!path.includes('node_modules/')) return true
  }
  return false
}

/**
 * Whether two host names seem to be below one registrable domain. A guess without the public suffix list, for a warning only.
 *
 * @example isSameSite('api.example.org', 'admin.example.org') // true
 */
export function isSameSite(one: string, other: string): boolean {
  return registrableDomain(one) === registrableDomain(other)
}
