import { createBase64urlReader } from '../../lib/base64url.js'
import { readFields, textIn } from '../../lib/json-fields.js'
import type { ClientData } from '../../model/factors/webauthn.js'

/** Origin and challenge are short; the rest leaves room for what browsers add. */
const longest = 8_192

const decode = createBase64urlReader(longest)

/** Null for a text in another than the canonical spelling, and for one that holds no client data. */
export function readClientData(encoded: string): ClientData | null {
  return readFields(decode(encoded), (fields) => ({
    type: textIn(fields, 'type'),
    challenge: textIn(fields, 'challenge'),
    origin: textIn(fields, 'origin'),
    // Not every browser names the top origin, so a frame of another origin is refused by each sign of one.
    crossOrigin: (fields.crossOrigin ?? false) !== false || fields.topOrigin !== undefined,
  }))
}
