import type { LatchkeySettings } from '../../src/index.js'
import type { TestAnswer, TestClient } from '../../src/testing.js'
import { type TestAuth, testAuth } from './auth.js'

/** A whole Latchkey with every limit at its default. */
export function limitedAuth(overrides: Partial<LatchkeySettings> = {}): Promise<TestAuth> {
  return testAuth({ limits: {}, ...overrides })
}

/** An IPv4 address of its own for every number up to 65,535. */
export function ipOf(index: number): string {
  return `198.18.${Math.floor(index / 256)}.${index % 256}`
}

/** An address in an IPv4 /24 of its own for every number up to 255: another network. */
export function networkOf(index: number): string {
  return `198.51.${index}.7`
}

/** That many requests, one after the other; their statuses. */
export async function inTurn(times: number, ask: (index: number) => Promise<TestAnswer>): Promise<number[]> {
  const statuses: number[] = []
  for (let index = 0; index < times; index += 1) statuses.push((await ask(index)).status)
  return statuses
}

export function times(count: number, status: number): number[] {
  return Array.from({ length: count }, () => status)
}

export function guess(client: TestClient, email: string): Promise<TestAnswer> {
  return client.post('/auth/login', { email, password: 'not the password' })
}

/** What two answers must share to look alike: all but the number of the request. */
export function face({ status, headers, body }: TestAnswer): unknown {
  const { 'x-request-id': _, ...rest } = Object.fromEntries(headers)
  return { status, headers: rest, body: { ...Object(body), requestId: null } }
}

/** Time passes in one stride: thousands of timers on the way would only be slow. */
export function leap({ runtime: { clock } }: Pick<TestAuth, 'runtime'>, seconds: number): Promise<void> {
  return clock.set(clock.now() + seconds * 1_000)
}
