import { withReturnTo } from '../http/landing.js'
import type { HttpResponse } from '../http/message.js'
import { redirect } from '../http/problem.js'
import type { RouteContext } from '../http/route.js'

/** The parts of the account page, by the names of their anchors, and what each tells of a form that has succeeded. */
export const accountSections = {
  profile: ['profile_changed'],
  email: ['confirmation_sent'],
  password: ['password_changed'],
  'two-factor': ['two_factor_disabled'],
  identities: ['identity_linked', 'identity_removed'],
  sessions: ['session_revoked', 'sessions_revoked'],
  delete: [],
} as const satisfies Record<string, readonly string[]>

export type AccountSection = keyof typeof accountSections
export type AccountDone = (typeof accountSections)[AccountSection][number]

/** Where a form of the account page ends that has succeeded: where it wished to, else at its own part of the page. */
export function accountDone(
  { returnTo, authPath }: Pick<RouteContext, 'returnTo' | 'authPath'>,
  section: AccountSection,
  done: AccountDone,
  headers: HttpResponse['headers'] = {},
): HttpResponse {
  return redirect(303, returnTo ?? `${authPath}/account?done=${done}#${section}`, headers)
}

/**
 * A link to our page cannot sign somebody in anew who is signed in: a form signs out, and leads by this address to the
 * sign-in page and back.
 */
export function signInAgainUrl(
  { settings, authPath }: Pick<RouteContext, 'settings' | 'authPath'>,
  page: string,
): string {
  return withReturnTo(settings.redirectFailUrl, `${authPath}${page}`)
}

/** On these pages nobody has typed an address. */
export function accountError(code: string): string {
  return code === 'invalid_credentials' ? 'wrong_password' : code
}

/** What became of which form: everything else in the address is nothing to the page. */
export function accountOutcome(given: URLSearchParams) {
  const error = given.get('error') ?? ''
  const sections = Object.entries(accountSections)
  // A provider sends people back without knowing our parts.
  const named = given.get('at') ?? (given.has('provider') ? 'identities' : '')
  const at = (error && sections.find(([name]) => name === named)?.[0]) ?? ''
  return {
    error: accountError(error),
    failed: Object.fromEntries(sections.map(([name]) => [name, name === at])),
    unplaced: error !== '' && at === '',
    done: Object.fromEntries(sections.flatMap(([, codes]) => codes).map((code) => [code, code === given.get('done')])),
  }
}
