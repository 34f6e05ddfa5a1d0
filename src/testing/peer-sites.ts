import { createRandom } from '../lib/random.js'

/** A provider as the peer plays it: where it answers, and what is its own way. */
export interface PeerSite {
  name: 'google' | 'github' | 'openid'
  issuer: string
  /** Whether its answers say who it is (RFC 9207). */
  namesItself: boolean
  /** The scope without which it has nothing to tell. */
  scope: string
  authorization: string
  token: string
  keySet: string | null
  /** Where it says all this of itself. */
  metadata: string | null
  secretIn: 'body' | 'header'
  /** How it says that a token request is refused: GitHub with 200. */
  refusal(error: PeerError): Response
  /** What it answers at other addresses, on behalf of the account whose access token was sent. */
  documents: Readonly<Record<string, PeerDocument>>
}

/** What an access token of that scope shows of an account. */
export type PeerDocument = (account: PeerAccount, scope: readonly string[]) => unknown

export type PeerError = 'invalid_client' | 'invalid_grant' | 'redirect_uri_mismatch' | 'invalid_request'

export function peerSites(issuer: string): PeerSite[] {
  return [
    {
      name: 'google',
      issuer: 'https://accounts.google.com',
      namesItself: true,
      scope: 'openid',
      authorization: 'https://accounts.google.com/o/oauth2/v2/auth',
      token: 'https://oauth2.googleapis.com/token',
      keySet: 'https://www.googleapis.com/oauth2/v3/certs',
      metadata: null,
      secretIn: 'body',
      refusal: standardRefusal,
      documents: {},
    },
    {
      name: 'github',
      issuer: 'https://github.com/login/oauth',
      namesItself: false,
      scope: 'user:email',
      authorization: 'https://github.com/login/oauth/authorize',
      token: 'https://github.com/login/oauth/access_token',
      keySet: null,
      metadata: null,
      secretIn: 'body',
      refusal: (error) => Response.json({ error: githubErrors[error] }),
      documents: { 'https://api.github.com/user': githubUser, 'https://api.github.com/user/emails': githubEmails },
    },
    {
      name: 'openid',
      issuer,
      namesItself: true,
      scope: 'openid',
      authorization: `${issuer}/authorize`,
      token: `${issuer}/token`,
      keySet: `${issuer}/keys`,
      metadata: `${issuer}/.well-known/openid-configuration`,
      secretIn: 'header',
      refusal: standardRefusal,
      documents: { [`${issuer}/userinfo`]: openIdClaims },
    },
  ]
}

/** What an OpenID issuer says of itself (Discovery §3). */
export function peerMetadata(site: PeerSite): object {
  return {
    issuer: site.issuer,
    authorization_endpoint: site.authorization,
    token_endpoint: site.token,
    userinfo_endpoint: `${site.issuer}/userinfo`,
    jwks_uri: site.keySet,
    response_types_supported: ['code'],
    subject_types_supported: ['public'],
    id_token_signing_alg_values_supported: ['RS256'],
    token_endpoint_auth_methods_supported: ['client_secret_basic'],
    code_challenge_methods_supported: ['S256'],
    authorization_response_iss_parameter_supported: true,
  }
}

/** OpenID Connect Core §5.4: the address by `email`, the name by `profile`. */
export function openIdClaims(account: PeerAccount, scope: readonly string[]): object {
  const { id, email, emailVerified = true, name, claims } = account
  return {
    sub: id,
    ...(email === undefined || !scope.includes('email') ? {} : { email, email_verified: emailVerified }),
    ...(name === undefined || !scope.includes('profile') ? {} : { name }),
    ...claims,
  }
}

const githubErrors: Readonly<Record<PeerError, string>> = {
  invalid_client: 'incorrect_client_credentials',
  invalid_grant: 'bad_verification_code',
  redirect_uri_mismatch: 'redirect_uri_mismatch',
  invalid_request: 'bad_verification_code',
}

/** RFC 6749 §5.2. */
function standardRefusal(error: PeerError): Response {
  const code = error === 'redirect_uri_mismatch' ? 'invalid_grant' : error
  return Response.json({ error: code }, { status: error === 'invalid_client' ? 401 : 400 })
}

/** The profile: an id that is a number, and an address that proves nothing. */
function githubUser({ id, name, email }: PeerAccount): object {
  return { id: Number(id), login: `user-${id}`, name: name ?? null, email: email ?? null }
}

function githubEmails({ id, email, emailVerified = true }: PeerAccount): object[] {
  const noreply = {
    email: `${id}+user-${id}@users.noreply.github.com`,
    primary: false,
    verified: true,
    visibility: null,
  }
  return email === undefined
    ? [noreply]
    : [{ email, primary: true, verified: emailVerified, visibility: 'private' }, noreply]
}

/** A person with an account at every provider that the peer plays. */
export interface PeerAccount {
  /** What never changes about the account. For GitHub it must be a number in decimal digits. */
  id: string
  /** Default: none. */
  email?: string
  /** Whether the provider has confirmed the address. Default: true. */
  emailVerified?: boolean
  name?: string
  /** Further claims of the id_token, such as Google's `hd`; one of the same name wins. */
  claims?: Readonly<Record<string, unknown>>
}

/** The application that signs in at the peer. */
export interface PeerApplication {
  /** Where the application stands. Default: that of `testSettings`. */
  baseUrl?: string
  /** Default: `/auth`. */
  basePath?: string
}

/** What a provider knows of an application, as the settings spell it. */
interface PeerClient {
  CLIENT_ID: string
  CLIENT_SECRET: string
  REDIRECT_URI: string
}

export interface PeerClients {
  google: PeerClient
  github: PeerClient
  openid: PeerClient & { ISSUER: string }
}

/** Registers the application at every provider, each time with other secrets. */
export function createPeerClients(application: PeerApplication, issuer: string): PeerClients {
  const { baseUrl = 'http://localhost:3000', basePath = '/auth' } = application
  const random = createRandom()
  const client = (name: string): PeerClient => ({
    CLIENT_ID: `client-${random.id()}`,
    CLIENT_SECRET: random.token(),
    REDIRECT_URI: `${baseUrl}${basePath}/oauthcallback/${name}`,
  })
  return { google: client('google'), github: client('github'), openid: { ...client('company'), ISSUER: issuer } }
}
