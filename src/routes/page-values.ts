import { allowedReturnTo, withReturnTo } from '../http/landing.js'
import { type Query, queryOf } from '../http/query.js'
import type { RouteContext } from '../http/route.js'

/** The values in the query of a page. */
export interface PageValues {
  /** The token of the mailed link that led to the page. */
  token: string
  /** Whether the page's form has succeeded. */
  done: boolean
  /** Whether the visitor wants to begin again instead of continuing. */
  again: boolean
  /** The code of the form's error. */
  error: string
  /** The reasons why a password was too weak. */
  reasons: string[]
  /** The names of fields that were refused. */
  wrong: string[]
  /** Where the form leads, if that is allowed; else empty. */
  redirect: string
  /** The same as the query of a link to another page, with its question mark; else empty. */
  carry: string
}

/**
 * The error that a page shows. `invalid_token` is one code for programs, but a person reads whether a link or a code was
 * refused. `email_not_verified` also says whether a new mail was sent.
 */
function errorIn(given: Query): string {
  const error = given.get('error') ?? ''
  const [proof, mail] = [given.get('proof'), given.get('mail')]
  if (error === 'invalid_token' && proof !== null) return proof === 'code' ? 'wrong_code' : 'invalid_link'
  if (error === 'email_not_verified' && mail !== null) {
    return mail === 'sent' ? 'verification_sent' : 'verification_not_sent'
  }
  return error
}

/** Fields that can show an error below themselves. */
export type FieldName = 'email' | 'password' | 'code'

/** Errors that belong to one field. Every other error is an alert at the top of the page. */
const fieldErrors: ReadonlyMap<string, FieldName> = new Map([
  ['invalid_credentials', 'password'],
  ['wrong_password', 'password'],
  ['weak_password', 'password'],
  ['invalid_code', 'code'],
  ['wrong_code', 'code'],
  ['invalid_token', 'code'],
  ['email_taken', 'email'],
])

/** Which of the fields on the page shows the error; `field` is false where none of them does. */
export function errorAt(error: string, shown: readonly FieldName[]): Record<FieldName | 'field', boolean> {
  const at = shown.find((name) => name === fieldErrors.get(error))
  return { field: at !== undefined, email: at === 'email', password: at === 'password', code: at === 'code' }
}

/** How many mails one address gets in how many seconds, for the countdown of "Send it again"; empty without limits. */
export function mailLimit({ settings }: Pick<RouteContext, 'settings'>): string {
  const limit = settings.limits?.mail.account
  return limit ? `${limit.count}/${limit.windowSeconds}` : ''
}

/** Reads the page's query: the link's token, the outcome of its form, and where it leads. */
export function pageValues({ request, settings }: Pick<RouteContext, 'request' | 'settings'>): PageValues {
  const given = queryOf(request)
  const returnTo = allowedReturnTo(settings, given.get('redirect'))
  return {
    token: given.get('token') ?? '',
    done: given.has('done'),
    again: given.has('again'),
    error: errorIn(given),
    reasons: (given.get('reasons') ?? '').split(',', 7),
    wrong: (given.get('fields') ?? '').split(',', 50),
    redirect: returnTo ?? '',
    carry: withReturnTo('', returnTo),
  }
}
