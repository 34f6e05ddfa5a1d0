import { isLoopbackHost, isSecureUrl, parseHttpUrl } from '../lib/url.js'
import type { Endpoints } from './code-flow.js'
import { refuse } from './questions.js'

/** What an OpenID issuer has besides. */
export interface OpenIdEndpoints extends Endpoints {
  keySet: string
  /** Null: it has none, and the id_token is all there is. */
  userinfo: string | null
  algorithms: readonly string[]
}

type Metadata = Readonly<Record<string, unknown>>

/**
 * What an issuer says of itself (OpenID Connect Discovery §3). Only the exact issuer of the settings may speak of it
 * (§4.3; ASVS 5.0, 10.5.3).
 *
 * @throws {ProviderFault}
 */
export function readMetadata(metadata: Metadata, issuer: string): OpenIdEndpoints {
  if (metadata.issuer !== issuer) return refuse('discovery_issuer')
  const address = (name: string) => addressAt(metadata[name], issuer) ?? refuse('discovery_endpoint')
  return {
    authorization: address('authorization_endpoint'),
    token: address('token_endpoint'),
    keySet: address('jwks_uri'),
    userinfo: metadata.userinfo_endpoint === undefined ? null : address('userinfo_endpoint'),
    algorithms: textsOf(metadata.id_token_signing_alg_values_supported) ?? ['RS256'],
    secretIn: secretPlace(textsOf(metadata.token_endpoint_auth_methods_supported)),
    namesItself: metadata.authorization_response_iss_parameter_supported === true,
    isIssuer: (name) => name === issuer,
  }
}

/** https; http, and this machine itself, only where the issuer is there too. */
function addressAt(value: unknown, issuer: string): string | null {
  const url = parseHttpUrl(value)
  if (url === null || !isSecureUrl(url) || url.hash !== '') return null
  return isLoopbackHost(url.hostname) && !isLoopbackHost(new URL(issuer).hostname) ? null : url.href
}

/** `client_secret_basic` is what an issuer means that says nothing. */
function secretPlace(methods: readonly string[] | null): 'header' | 'body' {
  if (methods === null || methods.includes('client_secret_basic')) return 'header'
  return methods.includes('client_secret_post') ? 'body' : refuse('discovery_auth_method')
}

function textsOf(value: unknown): string[] | null {
  return Array.isArray(value) ? value.filter((item) => typeof item === 'string') : null
}
