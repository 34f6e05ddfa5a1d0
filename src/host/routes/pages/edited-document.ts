import { AuthError } from '../../../errors.js'
import { parseJson } from '../../../lib/json-object.js'
import { isPlain } from '../../documents/values.js'
import { idIn } from './document-rows.js'

/**
 * Checks the text of the editor before its query, which keeps the stored `_id` and would report a changed one as saved.
 *
 * @throws {AuthError} `query_invalid`
 */
export function requireSameId(text: string, filter: string): void {
  const id = idIn(filter)
  const document = parseJson(text)
  if (id === null || !isPlain(document) || document._id === undefined || document._id === id) return
  throw new AuthError('query_invalid', { detail: '_id cannot be changed. Restore it, or leave it out.' })
}
