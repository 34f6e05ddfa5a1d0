import { AuthError, invalidField } from '../../../errors.js'
import { archiveInvalid } from '../../archives/archive-invalid.js'
import type { BackupCollection, BackupManifest } from '../../archives/backup-manifest.js'
import { quoted } from '../../archives/quoted.js'
import { requireCollection } from '../../documents/names.js'
import type { SpaceRecord } from '../../store/spaces.js'
import type { BackupPorts } from './ports.js'

/** What the caller allows a restore to do. */
export interface RestoreRules {
  /** Reads and checks everything, and changes nothing. */
  verifyOnly: boolean
  /** Puts the release of the archive in force, too. */
  release: boolean
  /** Brings the settings of the archive, too. */
  settings: boolean
  /** The archive may be of another installation, whose signature cannot be checked. */
  foreign: boolean
  /** The name of the space. For an archive of another space also that one's, behind a comma. */
  confirm: string | undefined
  /** Admin tokens never bring settings or archives of another installation. */
  isSession: boolean
}

/** As many as a space may have. */
const mostCollections = 1_000

/**
 * Checks the manifest of a backup before anything is written.
 *
 * @throws {AuthError} `archive_invalid`, `quota_exceeded`, `invalid_request` for another `confirm`, `admin_token_not_for_this`
 */
export function judgeManifest(
  { signer, dataLimits }: Pick<BackupPorts, 'signer' | 'dataLimits'>,
  { manifest, space, rules }: { manifest: BackupManifest; space: SpaceRecord; rules: RestoreRules },
): void {
  requireShape(manifest)
  // Only a first look: the archive is signed as a whole, and that is checked at its end.
  if (!isOurs(signer, manifest.installation)) requireForeign(rules)
  requireConfirmed(manifest, space, rules)
  if (rules.release && manifest.release === null) {
    throw archiveInvalid('The archive holds no release.', 'Restore it without release.')
  }
  if (rules.settings && manifest.space.id !== space.id) {
    throw archiveInvalid('Settings are restored to their own space only.', 'Restore it without settings.')
  }
  const bytes = manifest.collections.reduce((sum, each) => sum + each.bytes, 0)
  if (bytes <= dataLimits.spaceBytes) return
  const fault = `The archive holds ${bytes} bytes of documents, and a space ${dataLimits.spaceBytes}.`
  throw new AuthError('quota_exceeded', { detail: `${fault} Raise limits.space of the host.` })
}

/** @throws {AuthError} `archive_invalid`, `admin_token_not_for_this` unless the caller allows it */
export function requireForeign({ foreign, isSession }: RestoreRules): void {
  if (foreign && isSession) return
  const fault = 'The archive is of another installation, so its signature cannot be checked.'
  const cure = 'If you trust its origin, sign in and restore it with foreign=true, or with --foreign of the tool.'
  if (isSession) throw archiveInvalid(fault, cure)
  throw new AuthError('admin_token_not_for_this', { detail: `${fault} ${cure}` })
}

function isOurs({ verify }: BackupPorts['signer'], keyId: string): boolean {
  return verify('', { keyId, mac: '' }) !== 'foreign'
}

function requireConfirmed({ space: from }: BackupManifest, { id, name }: SpaceRecord, rules: RestoreRules): void {
  const expected = from.id === id ? name : `${name},${from.name}`
  if (rules.verifyOnly || rules.confirm === expected) return
  const message =
    from.id === id
      ? 'must repeat the name of the space'
      : `must be "${expected}": the archive is of another space, named ${from.name}`
  throw invalidField('confirm', message)
}

function requireShape({ space, time, collections }: BackupManifest): void {
  const isNamed = /^[\w-]{1,64}$/.test(space.id) && /^[a-z][a-z0-9-]{0,30}$/.test(space.name)
  const isTimed = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/.test(time) && !Number.isNaN(Date.parse(time))
  if (!isNamed || !isTimed) throw archiveInvalid('manifest.json names no space, or no time.')
  if (collections.length > mostCollections) {
    throw archiveInvalid(`The archive has ${collections.length} collections, at most ${mostCollections}.`)
  }
  const names = new Set<string>()
  for (const collection of collections) requireNew(names, collection)
}

function requireNew(names: Set<string>, { name }: BackupCollection): void {
  try {
    requireCollection(name)
  } catch (error) {
    throw archiveInvalid(`${quoted(name)} is no name of a collection.`, undefined, error)
  }
  if (names.has(name)) throw archiveInvalid(`The collection ${name} is listed twice.`)
  names.add(name)
}
