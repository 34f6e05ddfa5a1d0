import type { HttpResponse } from '../../http/message.js'
import { empty, json } from '../../http/problem.js'
import type { AdminTokenEntry } from '../flows/people/admin-token-entry.js'
import type { PeoplePorts } from '../flows/people/ports.js'

/** The host's own ports. They stand once the store is open, before the first request. */
export type FindPeople = () => PeoplePorts

/** What a user leaves behind: the team tokens that they made; nothing where there are none. */
export function leftTokens(tokens: readonly AdminTokenEntry[]): HttpResponse {
  return tokens.length === 0 ? empty(204) : json(200, { tokens })
}
