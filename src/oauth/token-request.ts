import { parseJsonObject } from '../lib/json-object.js'
import type { IdTokenClaims, IdTokenRules, IdTokens } from '../model/id-token.js'
import type { AuthorizationAnswer } from './provider.js'
import { type Asking, askText, refuse } from './questions.js'

/** The tokens that replace a code. They are used at once and never stored (ASVS 5.0, 10.1.1). */
export interface ProviderTokens {
  accessToken: string
  /** Null for providers that do not speak OpenID Connect. */
  idToken: string | null
}

export interface TokenRequest {
  endpoint: string
  clientId: string
  clientSecret: string
  /** In the body, or as HTTP Basic (RFC 6749 §2.3.1). */
  secretIn: 'body' | 'header'
  redirectUri: string
}

/** Error codes of the provider that point to a wrong setting or code. Nothing else of its answer is logged. */
const knownErrors = [
  ...['invalid_request', 'invalid_client', 'invalid_grant', 'unauthorized_client', 'unsupported_grant_type'],
  ...['invalid_scope', 'bad_verification_code', 'incorrect_client_credentials', 'redirect_uri_mismatch'],
]

/** No token is empty or holds characters that a header may not hold. */
const tokenText = /^[\x21-\x7e]+$/

/**
 * Exchanges a code for tokens. This is our own code because arctic follows redirects and has no timeout.
 *
 * @throws {ProviderFault}
 */
export async function requestTokens(
  world: Asking,
  request: TokenRequest,
  { code, verifier }: Pick<AuthorizationAnswer, 'code' | 'verifier'>,
): Promise<ProviderTokens> {
  const form = new URLSearchParams({
    grant_type: 'authorization_code',
    code,
    redirect_uri: request.redirectUri,
    code_verifier: verifier,
  })
  const headers: Record<string, string> = { 'content-type': 'application/x-www-form-urlencoded' }
  if (request.secretIn === 'header') headers.authorization = basicCredentials(request)
  else {
    form.set('client_id', request.clientId)
    form.set('client_secret', request.clientSecret)
  }
  // RFC 6749 §5.2 has errors as 400 or 401; GitHub has them as 200.
  const { status, text } = await askText(
    world,
    'token',
    { url: request.endpoint, headers, body: form.toString() },
    [200, 400, 401],
  )
  return readTokens(status, parseJsonObject(text))
}

function readTokens(status: number, answer: Readonly<Record<string, unknown>> | null): ProviderTokens {
  const error = answer?.error
  if (error !== undefined) {
    return refuse(typeof error === 'string' && knownErrors.includes(error) ? `token_${error}` : 'token_refused')
  }
  if (status !== 200) return refuse('token_bad_status')
  if (answer === null) return refuse('token_malformed')

  const { access_token: accessToken, token_type: tokenType, id_token: idToken } = answer
  // `token_type` is required, and a token of an unknown type must not be used (RFC 6749 §7.1).
  if (typeof tokenType !== 'string' || tokenType.toLowerCase() !== 'bearer') return refuse('token_type')
  if (typeof accessToken !== 'string' || !tokenText.test(accessToken)) return refuse('token_malformed')
  return { accessToken, idToken: typeof idToken === 'string' ? idToken : null }
}

/** Id and secret are form-encoded, because either may hold a colon or letters beyond ASCII (RFC 6749 §2.3.1). */
function basicCredentials({ clientId, clientSecret }: TokenRequest): string {
  const encoded = [clientId, clientSecret].map((text) => new URLSearchParams([['', text]]).toString().slice(1))
  return `Basic ${Buffer.from(encoded.join(':')).toString('base64')}`
}

type IssuerRules = Pick<IdTokenRules, 'keySetUrl' | 'algorithms' | 'clientId' | 'isIssuer'>

/** The claims of the id_token that came with an access token. @throws {ProviderFault} */
export async function idTokenClaims(
  idTokens: IdTokens,
  { accessToken, idToken }: ProviderTokens,
  rules: IssuerRules,
  { nonce }: AuthorizationAnswer,
): Promise<IdTokenClaims> {
  if (idToken === null) return refuse('id_token_missing')
  const result = await idTokens.check(idToken, { ...rules, nonce, accessToken })
  return 'claims' in result ? result.claims : refuse(`id_token_${result.fault}`)
}
