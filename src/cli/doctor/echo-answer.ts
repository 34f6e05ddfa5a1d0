import { choiceIn, type Fields, fieldsIn, flagIn, nullOr, readFields, textIn } from '../../lib/json-fields.js'
import type { DoctorEcho } from '../../model/doctor-echo.js'
import type { Reply } from './ask.js'

/** Why there is no echo. `code` is that of the server's problem; null when the answer is not one of Latchkey. */
export interface NoEcho {
  reply: Reply
  code: string | null
}

/** What the server saw, or why that is not known. */
export function readEcho(reply: Reply): DoctorEcho | NoEcho {
  if (reply.kind === 'silence') return { reply, code: null }
  const echo = reply.status === 200 ? readFields(reply.text, toEcho) : null
  if (echo !== null) return echo
  return { reply, code: readFields(reply.text, (fields) => textIn(fields, 'code')) }
}

function toEcho(fields: Fields): DoctorEcho {
  const headers = fieldsIn(fields, 'headers')
  return {
    installationId: textIn(fields, 'installationId'),
    baseUrl: textIn(fields, 'baseUrl'),
    ip: nullOr(fields, 'ip', textIn),
    fromTrustedProxy: flagIn(fields, 'fromTrustedProxy'),
    scheme: nullOr(fields, 'scheme', (from, name) => choiceIn(from, name, ['http', 'https'])),
    host: nullOr(fields, 'host', textIn),
    headers: Object.fromEntries(Object.keys(headers).map((name) => [name, textIn(headers, name)])),
    trustedProxies: choiceIn(fields, 'trustedProxies', ['none', 'count', 'networks']),
    cookie: textIn(fields, 'cookie'),
  }
}
