import type { ProviderInput } from '../settings/input.js'
import { secretClient, secretClientOf } from '../settings/providers.js'
import { accountOf, textOf } from './account.js'
import { type Endpoints, nonceParameter } from './code-flow.js'
import { defineProvider, type ProviderKind } from './kind.js'
import { idTokenClaims } from './token-request.js'

/** Fixed here instead of discovered, so that no attacker can replace them (ASVS 5.0, 10.5.3). */
const endpoints: Endpoints = {
  authorization: 'https://accounts.google.com/o/oauth2/v2/auth',
  token: 'https://oauth2.googleapis.com/token',
  secretIn: 'body',
  namesItself: false,
  isIssuer: (issuer) => issuer === 'https://accounts.google.com' || issuer === 'accounts.google.com',
}
const keySetUrl = 'https://www.googleapis.com/oauth2/v3/certs'

/** Google, by its id_token (Google, "OpenID Connect"). */
export const google: ProviderKind<ProviderInput> = defineProvider({
  kind: 'google',
  schema: secretClient.transform(secretClientOf),
  recipe: ({ clientId, clientSecret }, { idTokens }) => ({
    label: 'Google',
    isAuthority: true,
    scopes: ['openid', 'email', 'profile'],
    parameters: nonceParameter,
    endpoints: () => endpoints,
    clientSecret: () => clientSecret,
    async account(tokens, { isIssuer }, answer) {
      const rules = { keySetUrl, algorithms: ['RS256'], clientId, isIssuer }
      const claims = await idTokenClaims(idTokens, tokens, rules, answer)
      // Google is authoritative for these addresses only. Others may have a new owner since Google verified them.
      return accountOf(claims, (email) => textOf(claims.hd) !== null || /@(?:gmail|googlemail)\.com$/i.test(email))
    },
  }),
})
