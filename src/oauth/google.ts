import type { PlainProvider } from '../settings.js'
import { accountOf, textOf } from './account.js'
import { createCodeFlow, type Endpoints, nonceParameter, type Workshop } from './code-flow.js'
import { idTokenClaims } from './id-token-claims.js'
import type { Provider } from './provider.js'

/** Fixed here rather than discovered, so that nobody else can name them (ASVS 5.0, 10.5.3). */
const endpoints: Endpoints = {
  authorization: 'https://accounts.google.com/o/oauth2/v2/auth',
  token: 'https://oauth2.googleapis.com/token',
  secretIn: 'body',
  namesItself: false,
  isIssuer: (issuer) => issuer === 'https://accounts.google.com' || issuer === 'accounts.google.com',
}
const keySetUrl = 'https://www.googleapis.com/oauth2/v3/certs'

/** Google, by its id_token (Google, "OpenID Connect"). */
export function createGoogle(settings: PlainProvider, workshop: Workshop): Provider {
  const { name, clientId, clientSecret, redirectUri } = settings
  return createCodeFlow(workshop, {
    name,
    label: 'Google',
    clientId,
    redirectUri,
    scopes: ['openid', 'email', 'profile'],
    parameters: nonceParameter,
    endpoints: () => endpoints,
    clientSecret: () => clientSecret,
    async account(tokens, { isIssuer }, answer) {
      const rules = { keySetUrl, algorithms: ['RS256'], clientId, isIssuer }
      const claims = await idTokenClaims(workshop.idTokens, tokens, rules, answer)
      // Any other address may have changed hands since Google asked for it ("authoritative" in Google's documents).
      return accountOf(claims, (email) => textOf(claims.hd) !== null || /@(?:gmail|googlemail)\.com$/i.test(email))
    },
  })
}
