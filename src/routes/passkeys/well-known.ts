import { keptDocument } from '../../http/kept-document.js'
import { redirect } from '../../http/problem.js'
import { defineRoute, type RouteContext } from '../../http/route.js'
import { relatedOrigins } from '../../settings/passkey-site.js'

/** Browsers ask for it before a page of another site may use our passkeys (WebAuthn §5.11). */
export const relatedOriginsRoute = defineRoute({
  method: 'GET',
  path: '/.well-known/webauthn',
  root: true,
  limit: 'other',
  body: null,
  enabled: ({ passkeys }) => passkeys.enabled && relatedOrigins(passkeys).length > 0,
  summary: 'Lists the origins of other sites that use the passkeys of this one.',
  handle: keptDocument(({ settings }) => ({ origins: relatedOrigins(settings.passkeys) })),
})

/** Managers of passwords lead users there (https://w3c.github.io/webappsec-passkey-endpoints/passkey-endpoints.html). */
export const passkeyEndpointsRoute = defineRoute({
  method: 'GET',
  path: '/.well-known/passkey-endpoints',
  root: true,
  limit: 'other',
  body: null,
  enabled: ({ passkeys }) => passkeys.enabled,
  summary: 'Names the page where users add and remove passkeys.',
  handle: keptDocument((context) => {
    const page = accountUrl(context, 'passkeys')
    return { enroll: page, manage: page }
  }),
})

/** https://w3c.github.io/webappsec-change-password-url/ */
export const changePasswordUrlRoute = defineRoute({
  method: 'GET',
  path: '/.well-known/change-password',
  root: true,
  limit: 'other',
  body: null,
  summary: 'Redirects to the page where users change their password.',
  handle: async (context) => redirect(302, accountUrl(context, 'password')),
})

function accountUrl({ ports }: RouteContext, section: 'passkeys' | 'password'): string {
  return `${ports.policy.authUrl}/account#${section}`
}
