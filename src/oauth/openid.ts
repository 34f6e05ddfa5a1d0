import { keepDocument } from '../lib/kept-document.js'
import type { OpenIdProvider } from '../settings.js'
import { accountOf, type Claims } from './account.js'
import { createCodeFlow, nonceParameter, type Recipe, type Workshop } from './code-flow.js'
import { type OpenIdEndpoints, readMetadata } from './discovery.js'
import { idTokenClaims } from './id-token-claims.js'
import type { Provider } from './provider.js'
import { askObject, refuse } from './questions.js'
import type { ProviderTokens } from './token-request.js'

/** Any issuer that speaks OpenID Connect: it is asked for its endpoints (Discovery §4). */
export function createOpenId(settings: OpenIdProvider, workshop: Workshop): Provider {
  const { issuer, scopes, label } = settings
  const metadata = keepDocument(workshop.world, async () => {
    const url = `${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`
    return readMetadata(await askObject(workshop.world, 'discovery', url, null), issuer)
  })
  return createCodeFlow(workshop, openIdRecipe({ ...settings, label, scopes }, workshop, metadata.get))
}

/** What those have in common that speak OpenID Connect and of whose addresses nothing is known. */
export function openIdRecipe(
  settings: Pick<
    OpenIdProvider,
    'name' | 'clientId' | 'clientSecret' | 'redirectUri' | 'trustEmail' | 'label' | 'scopes'
  >,
  workshop: Workshop,
  endpoints: Recipe<OpenIdEndpoints>['endpoints'],
): Recipe<OpenIdEndpoints> {
  const { name, label, clientId, clientSecret, redirectUri, scopes, trustEmail } = settings
  return {
    name,
    label,
    clientId,
    redirectUri,
    scopes,
    parameters: nonceParameter,
    endpoints,
    clientSecret: () => clientSecret,
    async account(tokens, own, answer) {
      const { keySet: keySetUrl, algorithms, isIssuer } = own
      const rules = { keySetUrl, algorithms, clientId, isIssuer }
      const claims = await idTokenClaims(workshop.idTokens, tokens, rules, answer)
      return accountOf(await withUserinfo(workshop, claims, own, tokens), () => trustEmail)
    },
  }
}

/** Asks for the address where the id_token has none. Another subject's answer is swapped (Core §5.3.2). */
async function withUserinfo(
  { world }: Workshop,
  claims: Claims,
  { userinfo: url }: OpenIdEndpoints,
  { accessToken }: ProviderTokens,
): Promise<Claims> {
  if (claims.email !== undefined || url === null) return claims
  const userinfo = await askObject(world, 'userinfo', url, accessToken)
  if (userinfo.sub !== claims.sub) return refuse('userinfo_subject')
  // Address and what is said of it from one document.
  const { email, email_verified, name } = userinfo
  return { ...claims, email, email_verified, name: claims.name ?? name }
}
