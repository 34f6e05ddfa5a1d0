import { AuthError } from '../../../errors.js'
import { parseJson } from '../../../lib/json-object.js'
import { isWithinBounds } from '../../documents/bounded-json.js'
import { isPlain, maxDepth } from '../../documents/values.js'
import { idIn } from './document-rows.js'

/**
 * Checks the text of the editor before its query, whose messages name the fields of the API. The query keeps the stored `_id`, and
 * would report a changed one as saved.
 *
 * @throws {AuthError} `query_invalid`
 */
export function requireEdited(text: string, filter: string): void {
  const isBounded = isWithinBounds(text, { depth: maxDepth + 1, parts: Number.POSITIVE_INFINITY })
  if (!isBounded) throw refused(`The document nests deeper than ${maxDepth} levels.`)
  const document = parseJson(text)
  if (document === undefined) throw refused('The document is no JSON.')
  const id = idIn(filter)
  const isRenamed = id !== null && isPlain(document) && document._id !== undefined && document._id !== id
  if (isRenamed) throw refused('_id cannot be changed. Restore it, or leave it out.')
}

function refused(detail: string): AuthError {
  return new AuthError('query_invalid', { detail })
}
