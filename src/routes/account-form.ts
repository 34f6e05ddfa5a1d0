import { withReturnTo } from '../http/landing.js'
import type { HttpResponse } from '../http/message.js'
import { redirect } from '../http/problem.js'
import type { Query } from '../http/query.js'
import type { RouteContext } from '../http/route.js'
import { errorAt, type FieldName } from './page-values.js'

/** The sections of the account page, by their anchors, with the outcomes that each one shows. */
export const accountSections = {
  profile: ['profile_changed'],
  email: ['confirmation_sent', 'confirmation_not_sent'],
  password: ['password_changed'],
  'two-factor': ['two_factor_disabled'],
  passkeys: ['passkey_added', 'passkey_renamed', 'passkey_removed'],
  identities: ['identity_linked', 'identity_removed'],
  sessions: ['session_revoked', 'sessions_revoked'],
  delete: [],
} as const satisfies Record<string, readonly string[]>

export type AccountSection = keyof typeof accountSections
export type AccountDone = (typeof accountSections)[AccountSection][number]

/** Where a successful form of the account page leads: to its `returnTo`, or to its own part of the page. */
export function accountDone(
  { returnTo, authPath }: Pick<RouteContext, 'returnTo' | 'authPath'>,
  section: AccountSection,
  done: AccountDone,
  headers: HttpResponse['headers'] = {},
): HttpResponse {
  return redirect(303, returnTo ?? `${authPath}/account?done=${done}#${section}`, headers)
}

/**
 * Our sign-in page does not sign a signed-in user in again. So a form signs out first, and this URL leads to the sign-in page
 * and back.
 */
export function signInAgainUrl(
  { settings, authPath }: Pick<RouteContext, 'settings' | 'authPath'>,
  page: string,
): string {
  return withReturnTo(settings.redirectFailUrl, `${authPath}${page}`)
}

/** These pages have no field for an address. */
export function accountError(code: string): string {
  return code === 'invalid_credentials' ? 'wrong_password' : code
}

/** The fields of that part of the page that can show an error. Two forms of `two-factor` have the same ones. */
function fieldsOf(section: string): FieldName[] {
  if (section === 'email') return ['email', 'password']
  return section === 'password' || section === 'delete' ? ['password'] : []
}

/** The outcome of a form, and which form it was. The page ignores the rest of the query. */
export function accountOutcome(given: Query) {
  const error = given.get('error') ?? ''
  const sections = Object.entries(accountSections)
  // A provider leads back without the name of a part of our page.
  const named = given.get('at') ?? (given.has('provider') ? 'identities' : '')
  const at = (error && sections.find(([name]) => name === named)?.[0]) ?? ''
  const code = accountError(error)
  return {
    error: code,
    /** Whether the new password was refused, not the current one. */
    weak: code === 'weak_password',
    at: errorAt(code, fieldsOf(at)),
    failed: Object.fromEntries(sections.map(([name]) => [name, name === at])),
    unplaced: error !== '' && at === '',
    done: Object.fromEntries(sections.flatMap(([, codes]) => codes).map((code) => [code, code === given.get('done')])),
  }
}
