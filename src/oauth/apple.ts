import type { AppleProvider } from '../settings.js'
import { accountOf } from './account.js'
import { createCodeFlow, type Endpoints, nonceParameter, type Workshop } from './code-flow.js'
import { idTokenClaims } from './id-token-claims.js'
import type { Provider } from './provider.js'

const issuer = 'https://appleid.apple.com'
const endpoints: Endpoints = {
  authorization: `${issuer}/auth/authorize`,
  token: `${issuer}/auth/token`,
  secretIn: 'body',
  namesItself: false,
  isIssuer: (name) => name === issuer,
}

/**
 * Apple, by its id_token. Asked for an address, it answers by a form from its own page (`response_mode=form_post`) and in
 * no other way. The name is in that form and not in the token, so it is not known here.
 */
export function createApple(settings: AppleProvider, workshop: Workshop): Provider {
  const { name, clientId, redirectUri, trustEmail } = settings
  return createCodeFlow(workshop, {
    name,
    label: 'Apple',
    clientId,
    redirectUri,
    scopes: ['name', 'email'],
    parameters: (nonce) => ({ ...nonceParameter(nonce), response_mode: 'form_post' }),
    endpoints: () => endpoints,
    clientSecret: () => workshop.appleSecret(settings, clientId),
    async account(tokens, { isIssuer }, answer) {
      const rules = { keySetUrl: `${issuer}/auth/keys`, algorithms: ['RS256'], clientId, isIssuer }
      const claims = await idTokenClaims(workshop.idTokens, tokens, rules, answer)
      return accountOf({ ...claims, email_verified: asBoolean(claims.email_verified) }, () => trustEmail)
    },
  })
}

/** Apple documents it as a boolean or its text; nobody else's text counts. */
function asBoolean(claim: unknown): unknown {
  return claim === 'true' ? true : claim === 'false' ? false : claim
}
