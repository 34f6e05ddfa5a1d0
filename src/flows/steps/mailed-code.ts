import { withoutGaps } from '../../lib/readable-code.js'
import type { OneTimeToken } from '../../model/one-time-token.js'
import type { Ports } from '../../ports.js'

/** The longest code. */
export const longCodeDigits = 8

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

/**
 * The code that belongs to the secret of a mailed link. It is made from the secret, so that the page of the link can show it
 * while the store keeps only digests. The code reveals nothing of the secret.
 */
export function codeFor({ keyring }: Pick<Ports, 'keyring'>, secret: string, digits: number): string {
  return decimals(keyring.digest(linkCode, secret), digits)
}

/** The same for a stored token, whichever key made it. null: the token has no code, or one of another length. */
export function codeOfLink(
  ports: Pick<Ports, 'keyring' | 'policy'>,
  token: OneTimeToken,
  secret: string,
): string | null {
  const lengths = [ports.policy.codeDigits, longCodeDigits]
  const codes = ports.keyring
    .digests(linkCode, secret)
    .flatMap((digest) => lengths.map((each) => decimals(digest, each)))
  return codes.find((code) => matchesCode(ports, token, code)) ?? null
}

const linkCode = 'otp-code-of-link'

/** The last digits of a digest of 256 bits, in which no digit is more likely than another. */
function decimals(digest: string, digits: number): string {
  const hex = Buffer.from(digest.slice(digest.indexOf('.') + 1), 'base64url').toString('hex')
  return BigInt(`0x${hex}`).toString().padStart(digits, '0').slice(-digits)
}

function codeText({ id }: Coded, code: string): string {
  return `${id}.${withoutGaps(code)}`
}
