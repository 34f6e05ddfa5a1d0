import {
  createHash,
  createPrivateKey,
  createPublicKey,
  createSign,
  generateKeyPairSync,
  type KeyObject,
} from 'node:crypto'
import { createRandom } from '../lib/random.js'
import type { TestClock } from './clock.js'
import type { PeerAccount, PeerClients } from './peer-sites.js'
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

/** The parameters with which a browser was sent to a provider. */
interface Authorization {
  site: PeerSite
  clientId: string
  redirectUri: string
  state: string
  scope: readonly string[]
  challenge: string
  /** Null: none was sent, and none is returned. */
  nonce: string | null
}

/**
 * Reads an authorization request as strictly as providers do.
 *
 * @throws {Error} that names the fault, where a real provider shows an error page and does not redirect
 */
function readAuthorization(authorizationUrl: string, sites: readonly PeerSite[], clients: PeerClients): Authorization {
  if (!URL.canParse(authorizationUrl)) throw new Error('The authorization URL is no URL. Pass the location header.')
  const { origin, pathname, searchParams } = new URL(authorizationUrl)
  const site = sites.find(({ authorization }) => authorization === `${origin}${pathname}`)
  if (site === undefined) throw new Error(`${origin}${pathname} is no authorization endpoint of the test peer.`)

  const sent = (name: string) => {
    const [value = null, ...others] = searchParams.getAll(name)
    // RFC 6749 §3.1: no parameter more than once.
    return others.length > 0 ? null : value
  }
  const client = clients[site.name]
  const scope = (sent('scope') ?? '').split(' ')
  const faults = [
    [sent('response_type') === 'code', 'response_type is not code'],
    [sent('client_id') === client.CLIENT_ID, 'client_id is of no client'],
    [sent('redirect_uri') === client.REDIRECT_URI, 'redirect_uri is not the one that is registered'],
    [scope.includes(site.scope), `scope lacks ${site.scope}`],
    [sent('code_challenge_method') === 'S256', 'code_challenge_method is not S256'],
    [/^[\w-]{43}$/.test(sent('code_challenge') ?? ''), 'code_challenge is not an S256 challenge'],
    [sent('state'), 'state is missing'],
  ] as const
  const [fault] = faults.filter(([holds]) => !holds)
  if (fault) throw new Error(`${site.name} shows an error: ${fault[1]}`)

  return {
    site,
    clientId: client.CLIENT_ID,
    redirectUri: client.REDIRECT_URI,
    state: sent('state') ?? '',
    scope,
    challenge: sent('code_challenge') ?? '',
    nonce: sent('nonce'),
  }
}

/** A real RSA key, made when it is first needed. */
interface PeerKey {
  /** The key set document (RFC 7517 §5). */
  keySet(): object
  /** A JWT with RS256. */
  sign(claims: object): string
}

function createPeerKey(kid: string): PeerKey {
  let pair: { publicKey: KeyObject; privateKey: KeyObject } | null = null
  const keys = () => {
    pair ??= newKeyPair('rsa')
    return pair
  }
  return {
    keySet: () => ({ keys: [{ ...keys().publicKey.export({ format: 'jwk' }), kid, alg: 'RS256', use: 'sig' }] }),
    sign(claims) {
      const text = [{ alg: 'RS256', typ: 'JWT', kid }, claims].map((part) => encode(JSON.stringify(part))).join('.')
      return `${text}.${createSign('sha256').update(text).sign(keys().privateKey, 'base64url')}`
    },
  }
}

/** One for all peers of a process: making it takes longer than most tests, and it guards nothing. */
const peerKey = createPeerKey('peer')

/** The challenge of a PKCE verifier (RFC 7636 §4.2), and the hash that `at_hash` is half of. */
function s256(text: string): Buffer {
  return createHash('sha256').update(text).digest()
}

function encode(text: string): string {
  return Buffer.from(text).toString('base64url')
}

const publicKeyEncoding = { type: 'spki', format: 'der' } as const
const privateKeyEncoding = { type: 'pkcs8', format: 'der' } as const

/**
 * A new key pair that can be exported as JWK. Node 20 can wait for ever while it exports a key that it has just made: a garbage
 * collection at that moment ends the job that made the key, and both wait for one lock. Keys that were read have no such job.
 *
 * @param kind `rsa` (2048 bits), `ed25519`, or a curve such as `P-256`
 */
export function newKeyPair(kind: string, modulusLength = 2048): { publicKey: KeyObject; privateKey: KeyObject } {
  const { publicKey, privateKey } = encodedPair(kind, modulusLength)
  return {
    publicKey: createPublicKey({ key: publicKey, type: 'spki', format: 'der' }),
    privateKey: createPrivateKey({ key: privateKey, type: 'pkcs8', format: 'der' }),
  }
}

function encodedPair(kind: string, modulusLength: number): { publicKey: Buffer; privateKey: Buffer } {
  if (kind === 'rsa') return generateKeyPairSync('rsa', { modulusLength, publicKeyEncoding, privateKeyEncoding })
  if (kind === 'ed25519') return generateKeyPairSync('ed25519', { publicKeyEncoding, privateKeyEncoding })
  return generateKeyPairSync('ec', { namedCurve: kind, publicKeyEncoding, privateKeyEncoding })
}
