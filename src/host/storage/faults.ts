import { memberOf } from '../../lib/members.js'
import { sqliteCodeOf } from '../../store/sql/engine/retry.js'
import { queryInvalid, StoreError } from '../documents/store-error.js'

/** PostgreSQL: disk_full. */
const full = '53100'
/** invalid_text_representation, character_not_in_repertoire, untranslatable_character: only a body can be the cause. */
const notJson: readonly unknown[] = ['22P02', '22021', '22P05']

/** What an error of the thread means for the caller. Of other errors than `StoreError` the caller learns nothing. */
export function judgeFault(error: unknown): StoreError {
  if (error instanceof StoreError) return error
  const code = sqliteCodeOf(error)
  if (code === 'FULL') return new StoreError('quota_exceeded', 'The disk of the host is full.', error)
  const postgres = memberOf(error, 'code')
  if (postgres === full) return new StoreError('quota_exceeded', 'The disk of the database server is full.', error)
  // The only constraint that a checked call can meet.
  if (code === 'CONSTRAINT' || notJson.includes(postgres)) return queryInvalid('The document is no valid JSON.', error)
  return unavailable(error)
}

export function unavailable(cause?: unknown): StoreError {
  return new StoreError('store_unavailable', 'The data of this space cannot be reached. Try again shortly.', cause)
}

/** For the log of the host: an error's code or class, because a message may quote what was written. null: no fault of ours. */
export function reasonOf(error: unknown): string | null {
  if (error instanceof StoreError || notJson.includes(memberOf(error, 'code'))) return null
  const code = sqliteCodeOf(error)
  if (code !== null) return code === 'CONSTRAINT' ? null : `SQLITE_${code}`
  if (!(error instanceof Error)) return 'unknown'
  return 'code' in error && typeof error.code === 'string' ? error.code : error.name
}
