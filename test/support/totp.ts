import { createHmac } from 'node:crypto'
import { expect } from 'vitest'
import type { SignedIn, TestAnswer, TestClient, TestClock } from '../../src/testing.js'

const base32 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'

/** What an authenticator app shows: RFC 4226 and RFC 6238 by node:crypto, which shares nothing with what it judges. */
export function totpCode(secret: string, atMs: number): string {
  return hotpCode(secretBytes(secret), Math.floor(atMs / 30_000))
}

export function hotpCode(secret: Uint8Array, counter: number): string {
  const message = Buffer.alloc(8)
  message.writeBigUInt64BE(BigInt(counter))
  const hmac = createHmac('sha1', secret).update(message).digest()
  const offset = (hmac.at(-1) ?? 0) & 15
  return String((hmac.readUInt32BE(offset) & 0x7fffffff) % 1_000_000).padStart(6, '0')
}

/** RFC 4648 §6, without padding. */
export function secretBytes(secret: string): Buffer<ArrayBuffer> {
  const bits = [...secret].map((letter) => base32.indexOf(letter).toString(2).padStart(5, '0')).join('')
  return Buffer.from((bits.match(/.{8}/g) ?? []).map((byte) => Number.parseInt(byte, 2)))
}

/** A user with a second factor, as their phone and their drawer know it. */
export interface Factor {
  secret: string
  backupCodes: string[]
  /** The code that the app shows now. */
  code(): string
  /** The code of the next step, half a minute later: one that nobody has used. */
  nextCode(): Promise<string>
  /** Six digits that no step of the window has. */
  wrongCode(): string
}

export interface Confirmed extends SignedIn {
  backupCodes: string[]
}

/** Sets up a second factor for whoever is signed in. */
export async function enrol(client: TestClient, password: string, clock: TestClock): Promise<Factor> {
  const begun = await client.post<{ secret: string }>('/auth/two-factor/totp', { password })
  expect(begun.status, begun.text).toBe(200)
  const { secret } = begun.body
  const confirmed: TestAnswer<Confirmed> = await client.post('/auth/two-factor/totp/confirm', {
    code: totpCode(secret, clock.now()),
  })
  expect(confirmed.status, confirmed.text).toBe(200)
  return factorOf(secret, confirmed.body.backupCodes, clock)
}

export function factorOf(secret: string, backupCodes: string[], clock: TestClock): Factor {
  const code = () => totpCode(secret, clock.now())
  return {
    secret,
    backupCodes,
    code,
    async nextCode() {
      await clock.advance('30s')
      return code()
    },
    wrongCode() {
      const near = [-2, -1, 0, 1, 2].map((steps) => totpCode(secret, clock.now() + steps * 30_000))
      return ['000000', '111111', '222222', '333333', '444444', '555555'].find((code) => !near.includes(code)) ?? ''
    },
  }
}

/** The first step of a sign-in, which must ask for the second; its challenge. */
export async function firstStep(client: TestClient, credentials: { email: string; password: string }): Promise<string> {
  const answer = await client.post<{ status: string; challenge: string }>('/auth/login', credentials)
  expect(answer.status, answer.text).toBe(200)
  expect(answer.body.status).toBe('two_factor_required')
  return answer.body.challenge
}
