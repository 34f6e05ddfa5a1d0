import { createPrivateKey } from 'node:crypto'
import { text } from '../settings/field.js'
import type { JudgedProviderInput } from '../settings/input.js'
import { clientOf, judgedClientWithoutSecret } from '../settings/providers.js'
import { accountOf } from './account.js'
import { type Endpoints, nonceParameter } from './code-flow.js'
import { defineProvider, type ProviderKind } from './kind.js'
import { idTokenClaims } from './token-request.js'

export interface AppleInput extends Omit<JudgedProviderInput, 'CLIENT_SECRET'> {
  TEAM_ID: string
  KEY_ID: string
  /** The `.p8` file as it is: a PKCS#8 key in PEM. It signs the client secrets. */
  PRIVATE_KEY: string
}

const issuer = 'https://appleid.apple.com'
const endpoints: Endpoints = {
  authorization: `${issuer}/auth/authorize`,
  token: `${issuer}/auth/token`,
  secretIn: 'body',
  namesItself: false,
  isIssuer: (name) => name === issuer,
}

/** Apple allows six months for a client secret. Each request gets its own, so minutes are enough. */
const secretSeconds = 5 * 60

/** Ten letters and digits. Any other text was probably pasted into the wrong setting. */
const appleId = text('must be 10 letters and digits', (value) => (/^[A-Z0-9]{10}$/.test(value) ? value : null))

const p8File = text('must be the .p8 file of Apple as it is: a PKCS#8 key in PEM, of the curve P-256', (value) => {
  // In .env files, a line break is written as the two characters `\n`.
  const pem = value.replaceAll('\\n', '\n')
  return isP256Key(pem) ? pem : null
})

const schema = judgedClientWithoutSecret
  .extend({
    TEAM_ID: appleId,
    KEY_ID: appleId,
    PRIVATE_KEY: p8File,
  })
  .transform(({ trustEmail, TEAM_ID, KEY_ID, PRIVATE_KEY, ...given }) => ({
    ...clientOf(given),
    trustEmail,
    teamId: TEAM_ID,
    keyId: KEY_ID,
    privateKey: PRIVATE_KEY,
  }))

/**
 * Apple, by its id_token. If the email scope is requested, Apple only answers by a form that its own page posts
 * (`response_mode=form_post`). The user's name is in that form, not in the token, so Latchkey does not learn it.
 */
export const apple: ProviderKind<AppleInput> = defineProvider({
  kind: 'apple',
  schema,
  recipe: ({ clientId, trustEmail, teamId, keyId, privateKey }, { idTokens, signAssertion }) => ({
    label: 'Apple',
    scopes: ['name', 'email'],
    parameters: (nonce) => ({ ...nonceParameter(nonce), response_mode: 'form_post' }),
    endpoints: () => endpoints,
    // A JWT signed with the key of the team (Apple, "Creating a client secret").
    clientSecret: () =>
      signAssertion({
        privateKey,
        keyId,
        issuer: teamId,
        subject: clientId,
        audience: issuer,
        lifetimeSeconds: secretSeconds,
      }),
    async account(tokens, { isIssuer }, answer) {
      const rules = { keySetUrl: `${issuer}/auth/keys`, algorithms: ['RS256'], clientId, isIssuer }
      const claims = await idTokenClaims(idTokens, tokens, rules, answer)
      return accountOf({ ...claims, email_verified: asBoolean(claims.email_verified) }, () => trustEmail)
    },
  }),
})

/** Apple documents this claim as a boolean or as text. For other providers, only the boolean counts. */
function asBoolean(claim: unknown): unknown {
  return claim === 'true' ? true : claim === 'false' ? false : claim
}

function isP256Key(pem: string): boolean {
  if (!/^\s*-----BEGIN PRIVATE KEY-----/.test(pem)) return false
  try {
    return createPrivateKey(pem).asymmetricKeyDetails?.namedCurve === 'prime256v1'
  } catch {
    return false
  }
}
