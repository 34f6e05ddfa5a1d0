import { createHmac } from 'node:crypto'
import { type AttackServer, attackServer, claimsOf } from '../support/attack-server.js'
import { tokenSettings } from '../support/tokens.js'
import { readVectors } from '../support/vectors.js'

/** A token of `jwt-attacks.json` and how it was made. */
export interface AttackToken {
  id: string
  verifier: string
  expect: string
  token: string
  /** Unix seconds of the verifier; 1,700,000,000 unless told. */
  clock?: number
  header_raw?: string
  payload_raw?: string
  sign?: { alg: string; key: string }
}

const vectors = readVectors<{ keys: Record<string, unknown>; tokens: AttackToken[] }>('jwt-attacks')

/** Those that are meant for our own verifier. */
export const attackTokens = vectors.tokens.filter(({ verifier }) => verifier === 'hs256' || verifier === 'both')

/** Unix seconds at which the vectors begin. */
export const vectorTime = 1_700_000_000

/** A server with the issuer and the secrets of the vectors, and a token of its own. */
export async function targetServer(): Promise<{ server: AttackServer; access: string; refresh: string }> {
  const server = await attackServer({
    startAt: vectorTime * 1_000,
    settings: {
      baseUrl: tokenSettings.issuer,
      JWT_ACCESS_TOKEN_SECRET: tokenSettings.accessSecrets[0],
      JWT_REFRESH_TOKEN_SECRET: tokenSettings.refreshSecrets[0],
    },
  })
  const client = server.client({ as: 'token' })
  const { body } = await client.signUp({ email: 'alice@example.com', password: 'correct horse battery' })
  return { server, access: body.accessToken ?? '', refresh: body.refreshToken ?? '' }
}

/** The access token as the two places take it. Bytes go out as they are: HTTP clients tidy up what attackers do not. */
export function presentations(token: string): { place: string; bytes: string }[] {
  const request = (header: string) => `GET /api/secret HTTP/1.1\r\nHost: issuer.test\r\n${header}\r\n\r\n`
  return [
    { place: 'bearer', bytes: request(`Authorization: Bearer ${token}`) },
    { place: 'cookie', bytes: request(`Cookie: __Host-access-token=${token}`) },
  ]
}

/** The token as the refresh token of a browser and of an app. */
export function refreshPresentations(token: string): { place: string; bytes: string }[] {
  const body = JSON.stringify({ refreshToken: token })
  const head = (header: string) => `POST /auth/refresh HTTP/1.1\r\nHost: issuer.test\r\n${header}\r\n`
  const json = `Content-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`
  return [
    { place: 'cookie', bytes: `${head(`Origin: https://issuer.test\r\nCookie: __Secure-refresh-token=${token}`)}\r\n` },
    { place: 'body', bytes: `${head('X-Auth-Mode: token')}${json}` },
  ]
}

/** A forger who knows what our tokens look like, and has the key that the vector names. */
export function createForge(ours: string) {
  const header = Buffer.from(ours.split('.')[0] ?? '', 'base64url').toString()
  const { sub, iat, exp, iss, aud, ...required } = claimsOf(ours)

  return {
    /** The very header of our tokens. */
    header,
    sign(head: string | Buffer, payload: string | Buffer, { alg, key }: { alg: string; key: string }): string {
      const text = `${Buffer.from(head).toString('base64url')}.${Buffer.from(payload).toString('base64url')}`
      const named = vectors.keys[key]
      const secret = typeof named === 'string' ? named : JSON.parse(key.replace(/^literal /, ''))
      return `${text}.${createHmac(alg.replace('HS', 'sha'), secret).update(text).digest('base64url')}`
    },
    /** Puts the claims that we require before those of the attack, whose raw text stays as it is but for the audience. */
    claims(raw: string): string {
      const filled = `{${JSON.stringify(required).slice(1, -1)}${raw === '{}' ? '' : ','}`
      return raw.replace(/^\{(?="|\})/, () => filled).replaceAll('test-app', String(aud))
    },
    /** The attack's header as close to ours as the attack allows: our kind and key where it does not name its own. */
    likeOurs(raw: string): string {
      const { typ, kid } = JSON.parse(header)
      return raw.replace('"typ":"JWT"', `"typ":"${typ}","kid":"${kid}"`)
    },
  }
}
