import { keepDocument } from '../lib/kept-document.js'
import { list, orNull, shortText, text } from '../settings/field.js'
import type { JudgedProviderInput } from '../settings/input.js'
import { judgedClient, secretClientOf, serverUrl } from '../settings/providers.js'
import { accountOf, type Claims } from './account.js'
import { nonceParameter, type Recipe, type Workshop } from './code-flow.js'
import { type OpenIdEndpoints, readMetadata } from './discovery.js'
import { defineProvider, type ProviderKind } from './kind.js'
import { askObject, refuse } from './questions.js'
import type { ProviderTokens } from './token-request.js'
import { idTokenClaims } from './token-request.js'

export interface OpenIdInput extends JudgedProviderInput {
  /** As the provider writes it in `/.well-known/openid-configuration`, letter for letter. https, or http on loopback. */
  ISSUER: string
  /** Scopes in addition to `openid`. Default: `['email', 'profile']`. */
  SCOPES?: readonly string[] | undefined
  /** The name that pages show. Default: its name with a capital letter. */
  LABEL?: string | undefined
}

/** RFC 6749 §3.3. */
const scope = text('must be a scope: printable, without blanks, quotes and backslashes', (value) =>
  /^[\x21\x23-\x5b\x5d-\x7e]{1,128}$/.test(value) ? value : null,
)

const schema = judgedClient
  .extend({
    ISSUER: serverUrl,
    SCOPES: list(scope).prefault(['email', 'profile']),
    LABEL: orNull(shortText(40)),
  })
  .transform(({ trustEmail, ISSUER, SCOPES, LABEL, ...given }) => ({
    ...secretClientOf(given),
    trustEmail,
    issuer: ISSUER,
    // Without this one it is not OpenID Connect, and there is no id_token (Core §3.1.2.1).
    scopes: [...new Set(['openid', ...SCOPES])],
    label: LABEL,
  }))

/** Any OpenID issuer. Its endpoints come from its discovery document (Discovery §4). */
export const openid: ProviderKind<OpenIdInput> = defineProvider({
  kind: 'openid',
  schema,
  recipe(settings, workshop) {
    const { issuer, name } = settings
    const metadata = keepDocument(workshop.world, async () => {
      const url = `${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`
      return readMetadata(await askObject(workshop.world, 'discovery', url, null), issuer)
    })
    const label = settings.label ?? `${name.charAt(0).toUpperCase()}${name.slice(1)}`
    return openIdRecipe({ ...settings, label }, workshop, metadata.get)
  },
})

interface OpenIdClient {
  label: string
  clientId: string
  clientSecret: string
  scopes: readonly string[]
  trustEmail: boolean
}

/** The common part of OpenID issuers that may not confirm the addresses of their users. */
export function openIdRecipe(
  { label, clientId, clientSecret, scopes, trustEmail }: OpenIdClient,
  workshop: Workshop,
  endpoints: Recipe<OpenIdEndpoints>['endpoints'],
): Recipe<OpenIdEndpoints> {
  return {
    label,
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

/** Asks for the address if the id_token has none. An answer about another subject was swapped, so it is refused (Core §5.3.2). */
async function withUserinfo(
  { world }: Workshop,
  claims: Claims,
  { userinfo: url }: OpenIdEndpoints,
  { accessToken }: ProviderTokens,
): Promise<Claims> {
  if (claims.email !== undefined || url === null) return claims
  const userinfo = await askObject(world, 'userinfo', url, accessToken)
  if (userinfo.sub !== claims.sub) return refuse('userinfo_subject')
  // The address and `email_verified` must come from the same document.
  const { email, email_verified, name } = userinfo
  return { ...claims, email, email_verified, name: claims.name ?? name }
}
