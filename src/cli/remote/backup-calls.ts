import { type Fields, textIn } from '../../lib/json-fields.js'
import type { Address } from '../address.js'
import type { DataCalls, Restored, RestoreUpload } from '../collection-calls.js'
import { textOrNull } from './answers.js'
import { type Client, path, type StreamCall } from './calls.js'
import { notOurs } from './send.js'

/** The host may work on a large space for a while before it says more. */
const idleMs = 600_000
const progressBytes = 8 * 1024 * 1024

/** Backups of one space. @param below its path */
export function backupCalls(
  client: Client,
  address: Address,
  below: () => string,
): Pick<DataCalls, 'backup' | 'restore' | 'undoRestore'> {
  return {
    async backup() {
      const answer = await client.stream({ method: 'GET', path: `${below()}/backup`, idleMs, mostBytes: null })
      return { bytes: answer.bytes() }
    },
    restore: (upload) => follow(client, address, restoreCall(`${below()}/restore`, upload), upload.onStep),
    undoRestore: (confirm) => {
      const call = { method: 'POST', path: `${below()}${path('restore', 'undo')}`, body: { confirm } } as const
      return follow(client, address, { ...call, idleMs, mostBytes: progressBytes }, () => {})
    },
  }
}

function restoreCall(target: string, upload: RestoreUpload): StreamCall {
  const { confirm, verifyOnly, release, settings, foreign, open, size } = upload
  const flags = { verifyOnly, release, settings, foreign }
  const set = Object.entries(flags).flatMap(([name, isSet]) => (isSet ? [[name, 'true'] as const] : []))
  return {
    method: 'POST',
    path: target,
    query: { confirm, ...Object.fromEntries(set) },
    upload: { open, size, type: 'application/gzip' },
    idleMs,
    mostBytes: progressBytes,
  }
}

async function follow(
  client: Client,
  { site }: Address,
  call: StreamCall,
  onStep: (step: string) => void,
): Promise<Restored> {
  const { rows } = await client.stream(call)
  for await (const row of rows('done', 'finished')) {
    if (row.done !== undefined || row.finished !== undefined) return readRestored(row)
    if (typeof row.step === 'string') onStep(textIn(row, 'step'))
  }
  throw notOurs(site, 'no last row')
}

function readRestored(row: Fields): Restored {
  const warnings = Array.isArray(row.warnings) ? row.warnings.map(String) : []
  return { time: textOrNull(row, 'time'), warnings }
}
