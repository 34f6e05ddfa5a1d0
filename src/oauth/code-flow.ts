import type { World } from '../lib/runtime.js'
import type { SignClientAssertion } from '../model/client-assertion.js'
import type { IdTokens } from '../model/id-token.js'
import type { Logger, ProviderSettings } from '../settings.js'
import { authorizationAddress } from './arctic.js'
import type { AuthorizationAnswer, Provider, ProviderAccount } from './provider.js'
import { ProviderFault, refuse } from './questions.js'
import { type ProviderTokens, requestTokens, type TokenRequest } from './token-request.js'

/** What all providers are made with. */
export interface Workshop {
  world: Pick<World, 'fetch' | 'timer' | 'monotonic'>
  idTokens: IdTokens
  signAssertion: SignClientAssertion
  logger: Logger
}

/** Where a provider answers; some have to be asked for it. */
export interface Endpoints extends Pick<TokenRequest, 'secretIn'> {
  authorization: string
  token: string
  /** Whether it always says in its answer who it is (RFC 9207). */
  namesItself: boolean
  /** Whether that is the provider, in an authorization answer or an id_token. */
  isIssuer(issuer: string): boolean
}

/** What makes one provider differ from the others. */
export interface Recipe<Own extends Endpoints = Endpoints> {
  /** As people know it. */
  label: string
  scopes: readonly string[]
  /** What its authorization request has besides. */
  parameters(nonce: string): Readonly<Record<string, string>>
  endpoints(): Own | Promise<Own>
  clientSecret(): string | Promise<string>
  /** Who the tokens speak of. @throws {ProviderFault} */
  account(tokens: ProviderTokens, own: Own, answer: AuthorizationAnswer): Promise<ProviderAccount>
}

/** What OpenID Connect has and plain OAuth has not (Core §3.1.2.1). */
export function nonceParameter(nonce: string): Readonly<Record<string, string>> {
  return { nonce }
}

/** The one way in which every provider is spoken to: authorization code, state, PKCE. */
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

  /** Null, and a line in the log without anything that was exchanged. */
  function failed(error: unknown): null {
    const reason = error instanceof ProviderFault ? error.reason : 'unexpected'
    workshop.logger.warn({ event: 'oauth_failed', provider: name, reason }, 'Nobody could be signed in by a provider.')
    return null
  }

  return {
    name,
    label,
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

/** An answer of another provider than the one we asked is a mix-up (RFC 9700 §4.4.2.1, RFC 9207 §2.4). */
function requireIssuer({ isIssuer, namesItself }: Endpoints, issuer: string | null): void {
  if (issuer === null ? namesItself : !isIssuer(issuer)) refuse('answer_issuer')
}
