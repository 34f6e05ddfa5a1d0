import type { World } from '../lib/runtime.js'
import type { SignClientAssertion } from '../model/client-assertion.js'
import type { IdTokens } from '../model/id-token.js'
import type { Logger, ProviderSettings } from '../settings.js'
import { authorizationAddress } from './arctic.js'
import type { AuthorizationAnswer, Provider, ProviderAccount } from './provider.js'
import { ProviderFault, refuse } from './questions.js'
import { type ProviderTokens, requestTokens, type TokenRequest } from './token-request.js'

/** What every provider needs. */
export interface Workshop {
  world: Pick<World, 'fetch' | 'timer' | 'monotonic'>
  idTokens: IdTokens
  signAssertion: SignClientAssertion
  logger: Logger
}

/** The endpoints of a provider. Some come from its discovery document. */
export interface Endpoints extends Pick<TokenRequest, 'secretIn'> {
  authorization: string
  token: string
  /** Whether its answers always name the issuer (RFC 9207). */
  namesItself: boolean
  /** Whether this issuer, from an authorization answer or an id_token, is the provider. */
  isIssuer(issuer: string): boolean
}

/** The differences between providers. */
export interface Recipe<Own extends Endpoints = Endpoints> {
  /** The name that users know. */
  label: string
  /** Given where the provider itself, not the setting `trustEmail`, makes a claim of an address suffice. */
  isAuthority?: true
  scopes: readonly string[]
  /** Further parameters of its authorization request. */
  parameters(nonce: string): Readonly<Record<string, string>>
  endpoints(): Own | Promise<Own>
  clientSecret(): string | Promise<string>
  /** The account that the tokens belong to. @throws {ProviderFault} */
  account(tokens: ProviderTokens, own: Own, answer: AuthorizationAnswer): Promise<ProviderAccount>
}

/** The parameter that OpenID Connect adds to plain OAuth (Core §3.1.2.1). */
export function nonceParameter(nonce: string): Readonly<Record<string, string>> {
  return { nonce }
}

/** The one flow for every provider: authorization code, state, PKCE. */
export function createCodeFlow<Own extends Endpoints>(
  { name, clientId, redirectUri }: ProviderSettings,
  recipe: Recipe<Own>,
  workshop: Workshop,
): Provider {
  const { label, scopes } = recipe

  async function identify(answer: AuthorizationAnswer): Promise<ProviderAccount> {
    const own = await recipe.endpoints()
    requireIssuer(own, answer.issuer)
    const request: TokenRequest = {
      endpoint: own.token,
      clientId,
      clientSecret: await recipe.clientSecret(),
      secretIn: own.secretIn,
      redirectUri,
    }
    return recipe.account(await requestTokens(workshop.world, request, answer), own, answer)
  }

  /** Returns null and logs the reason, without any code, token or secret. */
  function failed(error: unknown): null {
    const reason = error instanceof ProviderFault ? error.reason : 'unexpected'
    workshop.logger.warn({ event: 'oauth_failed', provider: name, reason }, 'A sign-in by a provider failed.')
    return null
  }

  return {
    name,
    label,
    isAuthority: recipe.isAuthority === true,
    async authorizationUrl(request) {
      try {
        const { authorization: endpoint } = await recipe.endpoints()
        const parameters = recipe.parameters(request.nonce)
        return await authorizationAddress({ endpoint, clientId, redirectUri, scopes, parameters }, request)
      } catch (error) {
        return failed(error)
      }
    },
    identify: (answer) => identify(answer).catch(failed),
  }
}

/** Refuses the answer of another provider than the one we asked: a mix-up attack (RFC 9700 §4.4.2.1, RFC 9207 §2.4). */
function requireIssuer({ isIssuer, namesItself }: Endpoints, issuer: string | null): void {
  if (issuer === null ? namesItself : !isIssuer(issuer)) refuse('answer_issuer')
}
