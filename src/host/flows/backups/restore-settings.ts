import { AuthError } from '../../../errors.js'
import { allowNetwork, disallowNetwork } from '../../../flows/control/access-settings.js'
import { changeKeySet } from '../../../flows/control/key-set.js'
import { auditEvent } from '../../../flows/steps/audit.js'
import type { ApiTokenRecord } from '../../../model/api-token.js'
import type { SpaceName, Visitor } from '../../../model/visitor.js'
import type { BackupSettings, BackupToken } from '../../archives/backup-manifest.js'
import { SealingError } from '../../sealing/master-keys.js'
import { variableFaults } from '../../sealing/variables.js'
import type { Claim, SpaceRecord, StoredEnvironment } from '../../store/spaces.js'
import { requireHeld } from '../spaces/claim.js'
import type { BackupPorts } from './ports.js'

/** What became of the settings of an archive. */
export interface SettingsOutcome {
  /** Names of variables and API tokens that cannot be brought back, so that they must be set again. */
  setAgain: { environment: readonly string[]; apiTokens: readonly string[] }
  /** What could not be restored, a sentence each. */
  warnings: readonly string[]
}

/** As the answer lists them: an archive of another installation may hold any number of any length. */
const mostNamed = 200
const longestName = 100

/** What an archive has whose settings are not brought. @param isForeign another installation has other keys */
export function settingsLeft(
  { environment, apiTokens }: BackupSettings,
  { isForeign, wanted }: { isForeign: boolean; wanted: boolean },
): SettingsOutcome {
  if (!isForeign) return { setAgain: { environment: [], apiTokens: [] }, warnings: [] }
  return {
    setAgain: { environment: namesOf(environment), apiTokens: namesOf(apiTokens) },
    warnings: wanted ? ['The settings stay: the signature of the archive cannot be checked.'] : [],
  }
}

function namesOf(listed: readonly { name: string }[]): string[] {
  return listed.slice(0, mostNamed).map(({ name }) => name.slice(0, longestName))
}

interface Settings {
  space: SpaceRecord
  settings: BackupSettings
  visitor: Visitor
}

/**
 * Brings the settings of a backup back: the key set and the allow-list as they were, and the variables and API tokens that it has.
 * Those that were added since stay. A token that was ever removed or replaced stays removed. Each change has its event and its
 * change row. What is refused now becomes a warning: the data is in force by then.
 *
 * @throws {AuthError} `not_current`, `store_unavailable`
 */
export async function restoreSettings(ports: BackupPorts, claim: Claim, restored: Settings): Promise<SettingsOutcome> {
  const warnings: string[] = []
  const access = await restoreAccess(ports, restored)
  const apiTokens = await restoreTokens(ports, restored)
  const environment = await restoreEnvironment(ports, claim, restored)
  warnings.push(...access, ...environment.warnings)
  return { setAgain: { environment: environment.setAgain, apiTokens }, warnings }
}

/** New entries come first, so that the list is never empty in between. */
async function restoreAccess(ports: BackupPorts, { space, settings, visitor }: Settings): Promise<string[]> {
  const access = { ...ports, ...ports.accessOf(space) }
  const { networks: present, jwksUrl } = await access.accessSettings.read()
  const { networks, jwks } = settings
  const changes: [name: string, change: () => Promise<void>][] = []
  if (jwks !== null || jwksUrl !== null) {
    changes.push(['The key set', () => changeKeySet(access, { change: keySetChange(jwks), visitor })])
  }
  for (const network of networks) {
    changes.push([`The network ${network}`, () => allowNetwork(access, { network, visitor })])
  }
  // Without the networks of the archive, the others must stay: an empty list admits everyone.
  const faults = await applied(changes)
  if (faults.length > 0) return faults
  const surplus = present.filter((network) => !networks.includes(network))
  return applied(
    surplus.map((network) => [`The network ${network}`, () => disallowNetwork(access, { network, visitor })]),
  )
}

/** As it is set: what a rule leaves open is left out. */
function keySetChange(jwks: BackupSettings['jwks']): Parameters<typeof changeKeySet>[1]['change'] {
  if (jwks === null) return { url: null }
  if (jwks.rules === null) return { url: jwks.url }
  const { issuer, audience, ...rules } = jwks.rules
  return { url: jwks.url, ...rules, ...(issuer !== null && { issuer }), ...(audience.length > 0 && { audience }) }
}

/** @returns the faults of those that were refused */
async function applied(changes: readonly [name: string, change: () => Promise<void>][]): Promise<string[]> {
  const faults: string[] = []
  for (const [name, change] of changes) {
    try {
      await change()
    } catch (error) {
      if (!(error instanceof AuthError) || error.code === 'store_unavailable') throw error
      const [first] = error.details.errors ?? []
      faults.push(`${name} was not restored: it ${first?.message ?? error.message}.`)
    }
  }
  return faults
}

/** @returns the names of those that no request could use: their digest is under a key that is gone */
async function restoreTokens(ports: BackupPorts, { space, settings, visitor }: Settings): Promise<string[]> {
  const { apiTokens } = ports.accessOf(space)
  const known = new Set((await allTokens(apiTokens)).map(({ id }) => id))
  const ids = settings.apiTokens.map(({ id }) => id)
  const removed = new Set(await ports.removedTokens.among(space.id, ids))
  const now = ports.clock.now()
  const setAgain: BackupToken[] = []
  for (const token of settings.apiTokens) {
    if (known.has(token.id) || removed.has(token.id) || isExpired(token, now)) continue
    const [keyId = ''] = token.tokenHash.split('.')
    if (!ports.keyring.keyIds.includes(keyId)) {
      setAgain.push(token)
      continue
    }
    const detail = { tokenId: token.id, name: token.name, access: token.access, restored: true }
    const audit = auditEvent(ports, 'api_token_created', visitor, { detail })
    await apiTokens.create({ ...token, lastUsedAt: null }, audit)
  }
  return namesOf(setAgain)
}

function isExpired({ expiresAt }: BackupToken, now: number): boolean {
  return expiresAt !== null && expiresAt <= now
}

/** Values are sealed again, under the next version of each variable: no version is used twice. */
async function restoreEnvironment(
  ports: BackupPorts,
  claim: Claim,
  { space, settings, visitor }: Settings,
): Promise<{ setAgain: string[]; warnings: string[] }> {
  const [setAgain, warnings]: [string[], string[]] = [[], []]
  for (const archived of settings.environment) {
    const { name, encrypted } = archived
    const stored = await ports.environment.read(space.id)
    if (stored === null) throw new AuthError('not_current')
    const value = opened(ports, stored, archived)
    if (value === null) {
      setAgain.push(name)
      continue
    }
    const { variables, key } = stored
    const present = variables.find((each) => each.name === name)
    if (present && present.encrypted === encrypted && opened(ports, stored, present) === value) continue
    const names = variables.map((each) => each.name)
    const [fault] = variableFaults({ name, value }, names, ports.limits.environment)
    if (fault) {
      warnings.push(`The variable ${name} was not restored. ${fault.message}`)
      continue
    }
    const version = (present?.version ?? 0) + 1
    const sealed = ports.sealer.seal(key, { name, version, value })
    const detail = { name, encrypted, version, restored: true }
    const audit = auditEvent(ports, 'env_set', visitor, { detail })
    const variable = { ...sealed, encrypted, setAt: ports.clock.now(), setBy: visitor.actor }
    requireHeld(await ports.environment.set(claim, variable, audit))
  }
  return { setAgain, warnings }
}

/** null: it is sealed under a key that is gone. */
function opened(
  { sealer }: Pick<BackupPorts, 'sealer'>,
  { key }: StoredEnvironment,
  variable: Parameters<BackupPorts['sealer']['open']>[1],
): string | null {
  try {
    return sealer.open(key, variable)
  } catch (error) {
    if (error instanceof SealingError) return null
    throw error
  }
}

const pageSize = 200

/** The settings of a space, sealed as they are stored. */
export async function readSettings(ports: BackupPorts, { id, name }: SpaceName): Promise<BackupSettings> {
  const { apiTokens, accessSettings } = ports.accessOf({ id, name })
  const { jwksUrl, jwksRules, networks } = await accessSettings.read()
  const stored = await ports.environment.read(id)
  const tokens = await allTokens(apiTokens)
  return {
    jwks: jwksUrl === null ? null : { url: jwksUrl, rules: jwksRules ?? null },
    networks,
    apiTokens: tokens.map(({ lastUsedAt: _, ...token }) => token),
    environment: (stored?.variables ?? []).map(({ name: variable, version, sealed, encrypted }) => ({
      name: variable,
      version,
      sealed,
      encrypted,
    })),
  }
}

async function allTokens({
  list,
}: Pick<ReturnType<BackupPorts['accessOf']>['apiTokens'], 'list'>): Promise<ApiTokenRecord[]> {
  const all: ApiTokenRecord[] = []
  for (;;) {
    const page = await list({ after: all.at(-1) ?? null, limit: pageSize })
    all.push(...page)
    if (page.length < pageSize) return all
  }
}
