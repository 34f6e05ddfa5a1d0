import type { IdTokenClaims, IdTokenRules, IdTokens } from '../model/id-token.js'
import type { AuthorizationAnswer } from './provider.js'
import { refuse } from './questions.js'
import type { ProviderTokens } from './token-request.js'

export type IssuerRules = Pick<IdTokenRules, 'keySetUrl' | 'algorithms' | 'clientId' | 'isIssuer'>

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
