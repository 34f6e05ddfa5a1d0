import { createRandom } from '../lib/random.js'
import type { TestClock } from './clock.js'
import type { PeerAccount } from './peer-account.js'
import { type Authorization, readAuthorization } from './peer-authorization.js'
import type { PeerClients } from './peer-clients.js'
import { peerKey, s256 } from './peer-keys.js'
import { openIdClaims, type PeerDocument, type PeerError, type PeerSite, peerMetadata } from './peer-sites.js'

const codeLivesMs = 10 * 60_000
const tokenLivesSeconds = 3_600

/** What a code stands for. */
interface Grant {
  authorization: Authorization
  account: PeerAccount
  expiresAtMs: number
}

type Form = Readonly<Record<string, string>>

/** Hands out codes and tokens, and refuses what a real provider refuses. */
export class PeerDesk {
  readonly #clock: TestClock
  readonly #clients: PeerClients
  readonly #sites: readonly PeerSite[]
  readonly #random = createRandom()
  readonly #grants = new Map<string, Grant>()
  readonly #shown = new Map<string, Pick<Grant, 'account' | 'authorization'>>()

  constructor({ clock, clients, sites }: { clock: TestClock; clients: PeerClients; sites: readonly PeerSite[] }) {
    this.#clock = clock
    this.#clients = clients
    this.#sites = sites
  }

  grant(authorizationUrl: string, account: PeerAccount): string {
    const authorization = readAuthorization(authorizationUrl, this.#sites, this.#clients)
    const numeric = /^[1-9]\d{0,15}$/.test(account.id)
    if (authorization.site.name === 'github' && !numeric) {
      throw new Error('An account at GitHub has a number: give signInAs an id of decimal digits')
    }
    const code = this.#random.token()
    this.#grants.set(code, { authorization, account, expiresAtMs: this.#clock.now() + codeLivesMs })
    return callback(authorization, { code })
  }

  deny(authorizationUrl: string, error: string): string {
    return callback(readAuthorization(authorizationUrl, this.#sites, this.#clients), { error })
  }

  respond(request: Request, form: Form): Response {
    const { origin, pathname } = new URL(request.url)
    const address = `${origin}${pathname}`
    for (const site of this.#sites) {
      if (address === site.token) return this.#trade(site, request, form)
      if (address === site.keySet) return Response.json(peerKey.keySet())
      if (address === site.metadata) return Response.json(peerMetadata(site))
      const document = site.documents[address]
      if (document) return this.#show(site, request, document)
    }
    throw new TypeError(`No network in a test: ${address} was asked for, which the peer does not play`)
  }

  #trade(site: PeerSite, request: Request, form: Form): Response {
    const { client_id: clientId, client_secret: clientSecret } = form
    const sent = site.secretIn === 'body' ? [clientId, clientSecret] : basicCredentials(request)
    const client = this.#clients[site.name]
    if (request.method !== 'POST' || form.grant_type !== 'authorization_code') return site.refusal('invalid_request')
    if (sent[0] !== client.CLIENT_ID || sent[1] !== client.CLIENT_SECRET) return site.refusal('invalid_client')

    // Whatever comes of it, the code has been used (RFC 6749 §4.1.2).
    const grant = this.#grants.get(form.code ?? '')
    this.#grants.delete(form.code ?? '')
    const fault = grant === undefined ? 'invalid_grant' : this.#fault(site, grant, form)
    return grant === undefined || fault !== null
      ? site.refusal(fault ?? 'invalid_grant')
      : Response.json(this.#tokens(grant))
  }

  #fault(site: PeerSite, { authorization, expiresAtMs }: Grant, form: Form): PeerError | null {
    if (authorization.site !== site || this.#clock.now() >= expiresAtMs) return 'invalid_grant'
    if (form.redirect_uri !== authorization.redirectUri) return 'redirect_uri_mismatch'
    const verifier = form.code_verifier ?? ''
    const isVerifier = /^[\w.~-]{43,128}$/.test(verifier) // RFC 7636 §4.1
    return isVerifier && s256(verifier).toString('base64url') === authorization.challenge ? null : 'invalid_grant'
  }

  #tokens({ authorization, account }: Grant): object {
    const { site, clientId, nonce, scope } = authorization
    const accessToken = this.#random.token()
    this.#shown.set(accessToken, { authorization, account })
    const answer = { access_token: accessToken, token_type: 'bearer', scope: scope.join(' ') }
    if (site.keySet === null) return answer

    const iat = Math.floor(this.#clock.now() / 1000)
    const idToken = peerKey.sign({
      iss: site.issuer,
      aud: clientId,
      azp: clientId,
      iat,
      exp: iat + tokenLivesSeconds,
      ...(nonce === null ? {} : { nonce }),
      at_hash: s256(accessToken).subarray(0, 16).toString('base64url'),
      ...openIdClaims(account, scope),
    })
    return { ...answer, expires_in: tokenLivesSeconds, id_token: idToken }
  }

  /** A token opens what its own site has, and nothing of another. */
  #show(site: PeerSite, request: Request, document: PeerDocument): Response {
    const [, token = ''] = /^Bearer (.+)$/.exec(request.headers.get('authorization') ?? '') ?? []
    const shown = this.#shown.get(token)
    return shown?.authorization.site === site
      ? Response.json(document(shown.account, shown.authorization.scope))
      : Response.json({ message: 'Requires authentication' }, { status: 401 })
  }
}

function callback({ site, redirectUri, state }: Authorization, outcome: Readonly<Record<string, string>>): string {
  const url = new URL(redirectUri)
  const named = site.namesItself ? { iss: site.issuer } : {}
  for (const [name, value] of Object.entries({ ...outcome, state, ...named })) url.searchParams.set(name, value)
  return url.href
}

/** Both halves are encoded as in a form (RFC 6749 §2.3.1). */
function basicCredentials(request: Request): (string | undefined)[] {
  const [, encoded = ''] = /^Basic (.+)$/.exec(request.headers.get('authorization') ?? '') ?? []
  const halves = Buffer.from(encoded, 'base64').toString().split(':')
  return halves.map((half) => new URLSearchParams(`_=${half}`).get('_') ?? '')
}
