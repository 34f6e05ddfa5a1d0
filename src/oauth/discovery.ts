import { isLoopbackHost, isSecureUrl, parseHttpUrl } from '../lib/url.js'
import type { Endpoints } from './code-flow.js'
import { refuse } from './questions.js'

/** Endpoints that only an OpenID issuer has. */
export interface OpenIdEndpoints extends Endpoints {
  keySet: string
  /** Null: there is none, so all claims come from the id_token. */
  userinfo: string | null
  algorithms: readonly string[]
}

type Metadata = Readonly<Record<string, unknown>>

/**
 * Reads the discovery document of an issuer (OpenID Connect Discovery §3). Its `issuer` must equal the one in the settings,
 * letter for letter (§4.3; ASVS 5.0, 10.5.3).
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

/** https. http and loopback are allowed only if the issuer itself is at such an address. */
function addressAt(value: unknown, issuer: string): string | null {
  const url = parseHttpUrl(value)
  if (url === null || !isSecureUrl(url) || url.hash !== '') return null
  return isLoopbackHost(url.hostname) && !isLoopbackHost(new URL(issuer).hostname) ? null : url.href
}

/** Without a list of methods, an issuer means `client_secret_basic` (OpenID Connect Discovery §3). */
function secretPlace(methods: readonly string[] | null): 'header' | 'body' {
  if (methods === null || methods.includes('client_secret_basic')) return 'header'
  return methods.includes('client_secret_post') ? 'body' : refuse('discovery_auth_method')
}

function textsOf(value: unknown): string[] | null {
  return Array.isArray(value) ? value.filter((item) => typeof item === 'string') : null
}
