import { AuthError } from '../../../errors.js'
import { isPlain } from '../../documents/values.js'
import { readJson } from '../../flows/collections/query.js'
import { idIn } from './document-rows.js'

/**
 * Checks the text of the editor before its query, whose messages name the fields of the API. The query keeps the stored `_id`, and
 * would report a changed one as saved.
 *
 * @throws {AuthError} `query_invalid`
 */
export function requireEdited(text: string, filter: string): void {
  const document = readJson(text, 'The document')
  const id = idIn(filter)
  if (id === null || !isPlain(document) || document._id === undefined || document._id === id) return
  throw new AuthError('query_invalid', { detail: '_id cannot be changed. Restore it, or leave it out.' })
}
