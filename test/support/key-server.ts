import { type KeyObject, sign } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { newKeyPair } from '../../src/testing/peer-desk.js'

type Answerer = (request: IncomingMessage, response: ServerResponse) => void

/** The other issuer's key set on a loopback socket. */
export interface KeyServer {
  url: string
  /** How often it was asked, for whatever path. */
  readonly asked: number
  /** What it publishes from now on, as JSON with that `Cache-Control`. */
  publish(document: unknown, cacheControl?: string): void
  /** How it answers from now on. */
  answer(answerer: Answerer): void
  /** Nobody is there any more, until it is started again at the same port. */
  stop(): Promise<void>
  start(): Promise<void>
}

export async function keyServer(): Promise<KeyServer> {
  let asked = 0
  let answerer: Answerer = (_request, response) => response.writeHead(404).end()
  const server = createServer((request, response) => {
    asked += 1
    answerer(request, response)
  })
  const listen = (port: number) => new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve))
  await listen(0)
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}/.well-known/jwks.json`,
    get asked() {
      return asked
    },
    publish(document, cacheControl) {
      answerer = (_request, response) => {
        if (cacheControl !== undefined) response.setHeader('cache-control', cacheControl)
        response.setHeader('content-type', 'application/json').end(JSON.stringify(document))
      }
    },
    answer(next) {
      answerer = next
    },
    async stop() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
    start: () => listen(port),
  }
}

/** A key of the other issuer's. */
export interface IssuerKey {
  /** As it publishes it. */
  jwk: Readonly<Record<string, unknown>>
  /** A JWT with these claims; `header` is over what stands there otherwise. */
  token(claims: Readonly<Record<string, unknown>>, header?: Readonly<Record<string, unknown>>): string
}

const made = new Map<string, IssuerKey>()

/** The key of that id. A process makes it once, since that takes longer than most tests. */
export function issuerKey(kid: string): IssuerKey {
  const key = made.get(kid) ?? newKey(kid)
  made.set(kid, key)
  return key
}

function newKey(kid: string): IssuerKey {
  const { privateKey, publicKey } = newKeyPair('rsa')
  return {
    jwk: { ...publicKey.export({ format: 'jwk' }), kid, use: 'sig', alg: 'RS256' },
    token: (claims, header = {}) => signed({ alg: 'RS256', typ: 'JWT', kid, ...header }, claims, privateKey),
  }
}

function signed(header: object, claims: object, key: KeyObject): string {
  const text = [header, claims].map((part) => Buffer.from(JSON.stringify(part)).toString('base64url')).join('.')
  return `${text}.${sign('sha256', Buffer.from(text), key).toString('base64url')}`
}
