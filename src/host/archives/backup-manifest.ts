import {
  type Fields,
  fieldsIn,
  flagIn,
  listIn,
  nullOr,
  numberIn,
  readFields,
  textIn,
  WrongField,
} from '../../lib/json-fields.js'

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
export function countIn(fields: Fields, name: string): number {
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
