import type { Query } from '../../../http/query.js'
/** What a form of an admin page has done: each has a label `admin.done.<code>`. */
export const doneCodes = [
  'token_removed',
  'jwks_changed',
  'network_added',
  'network_removed',
  'user_created',
  'user_updated',
  'user_disabled',
  'user_enabled',
  'user_deleted',
  'reset_sent',
  'verification_sent',
  'already_verified',
  'two_factor_removed',
  'session_ended',
  'sessions_ended',
  'mail_retried',
  'mail_dropped',
  'device_answered',
  'space_created',
  'space_removed',
  'taken_over',
  'release_activated',
  'undeployed',
  'variable_set',
  'variable_removed',
  'right_granted',
  'right_changed',
  'right_removed',
  'team_created',
  'team_changed',
  'team_removed',
  'member_added',
  'member_removed',
  'tokens_left',
  'document_deleted',
  'index_built',
  'index_removed',
] as const

export type DoneCode = (typeof doneCodes)[number]

/** Fields that a refused form may name: each has a label `admin.wrong.<field>`. */
const wrongFields = [
  'name',
  'email',
  'roles',
  'cidrs',
  'expiresAt',
  'overlap',
  'url',
  'network',
  'confirm',
  'reason',
  'until',
  'from',
  'to',
  'query',
  'client',
  'value',
  'owner',
  'spaces',
  'commands',
  'issuer',
  'audience',
  'algorithms',
] as const

/** The same where the sentence of the field does not fit a section: each has a label `admin.wrong.<section>.<field>`. */
const wrongInSection = ['create-space.name', 'variable.name'] as const

/** The outcome of a form, as its section of the page shows it. */
export interface Outcome {
  /** The code of the error; empty for a success. */
  error: string
  /** The label of the sentence that names the field at fault; empty for none. */
  wrong: string
  /** The label of the success; empty for an error. */
  done: string
}

/** The outcome in the query of a page, by the section that it belongs to. Unknown words are dropped. */
export function outcomesIn(given: Query): Readonly<Record<string, Outcome>> {
  const section = given.get('at') ?? ''
  if (!/^[a-z-]{1,32}$/.test(section)) return {}
  const error = given.get('error') ?? ''
  const field = error === 'invalid_request' ? given.get('fields')?.split(',')[0] : undefined
  const wrong =
    wrongInSection.find((name) => name === `${section}.${field}`) ?? wrongFields.find((name) => name === field)
  const done = error === '' ? doneCodes.find((code) => code === given.get('done')) : undefined
  if (error === '' && done === undefined) return {}
  const label = (kind: string, name: string | undefined) => (name === undefined ? '' : `admin.${kind}.${name}`)
  return { [section]: { error, wrong: label('wrong', wrong), done: label('done', done) } }
}
