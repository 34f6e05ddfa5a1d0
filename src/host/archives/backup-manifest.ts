import {
  choiceIn,
  type Fields,
  fieldsIn,
  flagIn,
  listIn,
  nullOr,
  numberIn,
  readFields,
  textIn,
  textsIn,
  WrongField,
} from '../../lib/json-fields.js'
import type { ApiTokenRecord } from '../../model/api-token.js'
import type { KeySetRules } from '../../model/key-set.js'
import type { SealedVariable } from '../ports.js'
import type { Signature } from '../sealing/master-keys.js'

/** The first entry of a backup. */
export interface BackupManifest {
  /** Of the archive, not of the package. */
  format: 1
  space: { id: string; name: string }
  /** Id of the key that signs; it reveals nothing about the key. */
  installation: string
  /** The moment that the data is of, ISO 8601 in UTC. */
  time: string
  /** The number of the release in force; null: nothing was deployed. */
  release: number | null
  /** In the order of their entries. `bytes`: of all documents. */
  collections: readonly BackupCollection[]
  /** Of key-value pairs. */
  pairs: number
}

export interface BackupCollection {
  name: string
  count: number
  bytes: number
}

export const backupPaths = {
  manifest: 'manifest.json',
  /** `n` counts from 1. One document a line, in `_id` order. */
  collection: (n: number) => `collections/${n}.jsonl`,
  indexes: 'indexes.json',
  /** One pair a line, in order of keyspace and key. */
  pairs: 'kv.jsonl',
  /** The files of the release in force. */
  release: 'release/',
  settings: 'settings.json',
  checksums: 'checksums.json',
} as const

/** null: damaged, or of another version. */
export function readBackupManifest(text: string): BackupManifest | null {
  return readFields(text, (fields) => {
    if (fields.format !== 1) throw new WrongField('format', '1')
    const space = fieldsIn(fields, 'space')
    return {
      format: 1 as const,
      space: { id: textIn(space, 'id'), name: textIn(space, 'name') },
      installation: textIn(fields, 'installation'),
      time: textIn(fields, 'time'),
      release: nullOr(fields, 'release', countIn),
      collections: listIn(fields, 'collections', (each) => ({
        name: textIn(each, 'name'),
        count: countIn(each, 'count'),
        bytes: countIn(each, 'bytes'),
      })),
      pairs: countIn(fields, 'pairs'),
    }
  })
}

/** @throws {WrongField} */
function countIn(fields: Fields, name: string): number {
  const value = numberIn(fields, name)
  if (!Number.isSafeInteger(value) || value < 0) throw new WrongField(name, 'a count')
  return value
}

export interface BackupIndex {
  collection: string
  field: string
  unique: boolean
}

/** null: damaged. */
export function readBackupIndexes(text: string): BackupIndex[] | null {
  return readFields(text, (fields) =>
    listIn(fields, 'indexes', (each) => ({
      collection: textIn(each, 'collection'),
      field: textIn(each, 'field'),
      unique: flagIn(each, 'unique'),
    })),
  )
}

/** The settings of a space, as a backup has them: no secret is readable. */
export interface BackupSettings {
  jwks: { url: string; rules: KeySetRules | null } | null
  /** The allow-list. */
  networks: readonly string[]
  apiTokens: readonly BackupToken[]
  environment: readonly (SealedVariable & { encrypted: boolean })[]
}

export type BackupToken = Pick<
  ApiTokenRecord,
  'id' | 'tokenHash' | 'name' | 'access' | 'cidrs' | 'createdAt' | 'expiresAt' | 'replacedBy'
>

/** null: damaged. */
export function readBackupSettings(text: string): BackupSettings | null {
  return readFields(text, (fields) => ({
    jwks: nullOr(fields, 'jwks', keySetIn),
    networks: textsIn(fields, 'networks'),
    apiTokens: listIn(fields, 'apiTokens', readToken),
    environment: listIn(fields, 'environment', (each) => ({
      name: textIn(each, 'name'),
      version: countIn(each, 'version'),
      sealed: textIn(each, 'sealed'),
      encrypted: flagIn(each, 'encrypted'),
    })),
  }))
}

function keySetIn(fields: Fields, name: string): BackupSettings['jwks'] {
  const jwks = fieldsIn(fields, name)
  return { url: textIn(jwks, 'url'), rules: nullOr(jwks, 'rules', rulesIn) }
}

function rulesIn(fields: Fields, name: string): KeySetRules {
  const rules = fieldsIn(fields, name)
  return {
    issuer: nullOr(rules, 'issuer', textIn),
    audience: textsIn(rules, 'audience'),
    algorithms: textsIn(rules, 'algorithms'),
    exclusive: flagIn(rules, 'exclusive'),
  }
}

function readToken(fields: Fields): BackupToken {
  return {
    id: textIn(fields, 'id'),
    tokenHash: textIn(fields, 'tokenHash'),
    name: textIn(fields, 'name'),
    access: choiceIn(fields, 'access', ['READ', 'READWRITE']),
    cidrs: textsIn(fields, 'cidrs'),
    createdAt: numberIn(fields, 'createdAt'),
    expiresAt: nullOr(fields, 'expiresAt', numberIn),
    replacedBy: nullOr(fields, 'replacedBy', textIn),
  }
}

/** An entry of a backup, as the last entry lists it. */
export interface ArchivedEntry {
  path: string
  bytes: number
  /** Hexadecimal. */
  sha256: string
}

export interface Checksums {
  /** In the order of the archive. */
  entries: readonly ArchivedEntry[]
  /** Of `signedText(entries)`. */
  signature: Signature
}

/** What is signed: an entry a line, as `sha256sum` prints it but with the size. */
export function signedText(entries: readonly ArchivedEntry[]): string {
  return entries.map(({ path, bytes, sha256 }) => `${sha256} ${bytes} ${path}\n`).join('')
}

/** null: damaged. */
export function readChecksums(text: string): Checksums | null {
  return readFields(text, (fields) => {
    const signature = fieldsIn(fields, 'signature')
    return {
      entries: listIn(fields, 'entries', (each) => ({
        path: textIn(each, 'path'),
        bytes: countIn(each, 'bytes'),
        sha256: textIn(each, 'sha256'),
      })),
      signature: { keyId: textIn(signature, 'keyId'), mac: textIn(signature, 'mac') },
    }
  })
}
