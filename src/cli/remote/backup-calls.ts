import { type Fields, fieldsIn, nullOr, numberIn, textIn, textsIn } from '../../lib/json-fields.js'
import type { Address } from '../address.js'
import type { ArrivingBackup, BackupCalls, Restored, RestoreUpload } from '../host-home.js'
import type { Client, StreamCall } from './calls.js'
import { inSpace } from './contract-calls.js'
import { contract } from './contract-table.js'
import { asOurs, notOurs } from './send.js'

/** Longer than the host takes to check an index, or to start an application. */
const idleMs = 300_000
/** Of the answer to a restore: its progress, and what must be set again. */
const progressBytes = 64 * 1024 * 1024

/** The calls on the backups of one space. @param below its path */
export function backupCalls(client: Client, address: Address, below: () => string): BackupCalls {
  const { create, restore: restoring, undo } = contract.backups
  return {
    backUp: () => backUp(client, address, inSpace(below(), create)),
    restore: (upload) => restore(client, address, inSpace(below(), restoring), upload),
    async undoRestore() {
      const { rows } = await client.stream({ ...inSpace(below(), undo), idleMs, mostBytes: progressBytes })
      for await (const row of rows('done')) if (row.done !== undefined) return
    },
  }
}

type Target = Pick<StreamCall, 'method' | 'path'>

async function backUp(client: Client, { site }: Address, target: Target): Promise<ArrivingBackup> {
  const { header, bytes } = await client.stream({ ...target, idleMs, mostBytes: null })
  const [, name] =
    /^attachment; filename="([a-z0-9-]+-\d{8}T\d{4}Z\.tar\.gz)"$/.exec(header('content-disposition') ?? '') ?? []
  const count = (of: string) => Number(header(`x-latchkey-${of}`) ?? Number.NaN)
  const [collections, documents] = [count('collections'), count('documents')]
  if (name === undefined || !Number.isSafeInteger(collections) || !Number.isSafeInteger(documents)) {
    throw notOurs(site, 'no backup')
  }
  return { name, collections, documents, bytes: bytes() }
}

async function restore(
  client: Client,
  { site }: Address,
  target: Target,
  { open, size, confirm, verify, release, settings, foreign, onSent, onStep }: RestoreUpload,
): Promise<Restored> {
  const flags = Object.entries({ verify, release, settings, foreign }).filter(([, isSet]) => isSet)
  const query = { confirm, ...Object.fromEntries(flags.map(([name]) => [name, 'true'])) }
  const upload = { open, size, type: 'application/gzip' }
  const { rows } = await client.stream({
    ...target,
    query,
    upload,
    onSent,
    idleMs,
    mostBytes: progressBytes,
  })
  for await (const row of rows('done')) {
    if (row.done !== undefined) return asOurs(site, () => readRestored(row))
    const { processed, of, field } = row
    if (typeof processed === 'number' && typeof of === 'number') {
      onStep({ processed, of, field: typeof field === 'string' ? field : null })
    }
  }
  throw notOurs(site, 'no last row')
}

function readRestored(row: Fields): Restored {
  const setAgain = fieldsIn(row, 'setAgain')
  return {
    time: textIn(row, 'time'),
    collections: numberIn(row, 'collections'),
    documents: numberIn(row, 'documents'),
    pairs: numberIn(row, 'pairs'),
    undoUntil: nullOr(row, 'undoUntil', textIn),
    release: nullOr(row, 'release', numberIn),
    setAgain: { environment: textsIn(setAgain, 'environment'), apiTokens: textsIn(setAgain, 'apiTokens') },
    warnings: textsIn(row, 'warnings'),
  }
}
