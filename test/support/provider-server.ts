import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { exportJWK, type JWK, type JWTPayload, SignJWT } from 'jose'
import { onTestFinished } from 'vitest'
import { newKeyPair } from '../../src/testing/peer-desk.js'

/** A request as it came over the socket. */
export interface Asked {
  /** Method and address as the application wrote it: `GET https://api.github.com/user`. */
  line: string
  headers: IncomingMessage['headers']
  form: Readonly<Record<string, string>>
}

/** What one address answers: JSON, or whatever a function makes of the response. */
export type Reply = object | ((asked: Asked, response: ServerResponse) => void)

export interface ProviderServer {
  /** For the runtime: sends every request to this server, whatever host it is for. */
  fetch: typeof globalThis.fetch
  /** By `METHOD address` without the query; may be changed at any time. */
  replies: Record<string, Reply>
  asked: Asked[]
}

/** All hosts of the world on one real socket of this machine, until the test ends. */
export async function startProviderServer(replies: Record<string, Reply>): Promise<ProviderServer> {
  const asked: Asked[] = []
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(Buffer.from(chunk))
    const form = Object.fromEntries(new URLSearchParams(Buffer.concat(chunks).toString()))
    const line = `${request.method} ${request.headers['x-address']}`
    const found: Asked = { line, headers: request.headers, form }
    asked.push(found)
    const reply = replies[line.replace(/\?.*$/, '')]
    if (typeof reply === 'function') return reply(found, response)
    response.statusCode = reply === undefined ? 404 : 200
    response.setHeader('content-type', 'application/json').end(JSON.stringify(reply ?? {}))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  onTestFinished(async () => {
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  })
  return { fetch: sentTo(`http://127.0.0.1:${port}`), replies, asked }
}

/** A fetch whose requests all go to that origin, which is told the address that was meant. */
function sentTo(origin: string): typeof globalThis.fetch {
  return (input, init) => {
    const url = new URL(input instanceof Request ? input.url : input)
    const headers = new Headers(init?.headers)
    headers.set('x-address', url.href)
    return fetch(`${origin}${url.pathname}${url.search}`, { ...init, headers })
  }
}

/** Sound or not: `undefined` takes a claim away. */
export type TokenClaims = Readonly<Record<string, unknown>>

export interface Signer {
  keySet: { keys: JWK[] }
  sign(claims: TokenClaims, header?: Readonly<Record<string, unknown>>): Promise<string>
}

const made = new Map<string, Promise<Signer>>()

/** A key of somebody who issues id_tokens, made once for each algorithm and key id. */
export function createSigner(alg = 'RS256', kid = 'key-1'): Promise<Signer> {
  const name = `${alg} ${kid}`
  const signer = made.get(name) ?? makeSigner(alg, kid)
  made.set(name, signer)
  return signer
}

function kindOf(alg: string): string {
  if (alg === 'EdDSA') return 'ed25519'
  return { ES256: 'P-256', ES384: 'P-384', ES512: 'P-521' }[alg] ?? 'rsa'
}

async function makeSigner(alg: string, kid: string): Promise<Signer> {
  const { publicKey, privateKey } = newKeyPair(kindOf(alg))
  return {
    keySet: { keys: [{ ...(await exportJWK(publicKey)), kid, alg, use: 'sig' }] },
    sign: (claims, header = {}) =>
      new SignJWT(claims as JWTPayload).setProtectedHeader({ alg, kid, ...header }).sign(privateKey),
  }
}

/** A token answer as every provider has it. */
export function tokenAnswer(idToken?: string): object {
  return { access_token: 'access-token-of-this-test', token_type: 'Bearer', ...(idToken ? { id_token: idToken } : {}) }
}
