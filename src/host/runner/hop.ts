import { createHmac, timingSafeEqual } from 'node:crypto'

/** The headers that only the front sets. It drops those of clients. */
export const hopHeader = 'x-latchkey-hop'
export const principalHeader = 'x-latchkey-principal'
/** The nonce of a health check, which the child signs. */
export const nonceHeader = 'x-latchkey-nonce'
/** Stands outside every space: no space can have this name. */
export const healthPath = '/health'

/** Where application code and Latchkey inside it find the principal and the space. */
export const hostSymbol = Symbol.for('latchkey.host')

/** The proof that this child holds the hop key, by which the front knows its own child before it sends anything. */
export function signNonce(hopKey: string, nonce: string): string {
  return createHmac('sha256', hopKey).update(`health\n${nonce}`).digest('base64url')
}

/** In constant time for texts of one length. */
export function isSame(sent: unknown, expected: string): boolean {
  if (typeof sent !== 'string') return false
  const [one, other] = [Buffer.from(sent), Buffer.from(expected)]
  return one.length === other.length && timingSafeEqual(one, other)
}

/** base64url of JSON: no text of a user stands in the header itself. */
export function encodePrincipal(principal: object): string {
  return Buffer.from(JSON.stringify(principal)).toString('base64url')
}

/** null when the header is absent. @throws {SyntaxError} for a text that is no principal */
export function decodePrincipal(sent: unknown): object | null {
  if (sent === undefined) return null
  const value: unknown = JSON.parse(Buffer.from(String(sent), 'base64url').toString())
  if (typeof value !== 'object' || value === null) throw new SyntaxError('The principal is no object.')
  return deepFrozen(value)
}

function deepFrozen(value: object): object {
  for (const each of Object.values(value)) if (typeof each === 'object' && each !== null) deepFrozen(each)
  return Object.freeze(value)
}
