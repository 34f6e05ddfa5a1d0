import { withoutGaps } from '../../lib/readable-code.js'
import type { OneTimeToken } from '../../model/one-time-token.js'
import type { Ports } from '../../ports.js'

type Coded = Pick<OneTimeToken, 'id' | 'purpose'>

/** The stored form of a mailed code. The token's id is part of the digest, so equal codes differ in the store. */
export function digestCode(ports: Pick<Ports, 'keyring'>, token: Coded, code: string): string {
  return ports.keyring.digest(`${token.purpose}-code`, codeText(token, code))
}

/** Whether the code is this token's. */
export function matchesCode(ports: Pick<Ports, 'keyring'>, token: OneTimeToken, code: string): boolean {
  if (token.codeHash === null) return false
  return ports.keyring.digests(`${token.purpose}-code`, codeText(token, code)).includes(token.codeHash)
}

function codeText({ id }: Coded, code: string): string {
  return `${id}.${withoutGaps(code)}`
}
