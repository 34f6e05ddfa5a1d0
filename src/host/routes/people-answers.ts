import type { AdminTokenEntry } from '../../contract/admin-tokens.js'
import type { HttpResponse } from '../../http/message.js'
import { empty, json } from '../../http/problem.js'
import type { ControlForm } from '../../routes/admin/control-route.js'
import type { DoneCode } from '../../routes/admin/pages/outcomes.js'
import type { PeoplePorts } from '../flows/people/ports.js'

/** The host's own ports. They stand once the store is open, before the first request. */
export type FindPeople = () => PeoplePorts

/** A form that removes a user: where team tokens of theirs are left, the page of tokens asks whether they go too. */
export function whenRemoved(done: DoneCode): Pick<ControlForm, 'done' | 'donePage'> {
  const leaves = ({ status }: HttpResponse) => status === 200
  return {
    done: (answer) => (leaves(answer) ? 'tokens_left' : done),
    donePage: (answer) => (leaves(answer) ? { page: '/admin-tokens', section: 'left' } : null),
  }
}

/** What a user leaves behind: the team tokens that they made; nothing where there are none. */
export function leftTokens(tokens: readonly AdminTokenEntry[]): HttpResponse {
  return tokens.length === 0 ? empty(204) : json(200, { tokens })
}
