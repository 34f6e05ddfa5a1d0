import { timingSafeEqual } from 'node:crypto'
import type { Keyring } from '../../lib/keyring.js'

/** The request that a proof is for. */
export interface ProvedRequest {
  method: string
  /** Of `baseUrl`. A proof for one installation is invalid at another that shares its secrets. */
  origin: string
  /** Without query. */
  path: string
}

/** The header that carries a proof. */
export const doctorProofHeader = 'x-latchkey-proof'

/** How far the time of a proof may be from the server's, in seconds: its lifetime, and the skew of a clock that is ahead. */
const toleranceSeconds = 60

const purpose = 'doctor'

/**
 * Proves to the application that the request comes from a program with its secrets: the tool on the owner's machine.
 *
 * @param atSeconds Unix seconds
 */
export function makeDoctorProof(keyring: Pick<Keyring, 'digest'>, request: ProvedRequest, atSeconds: number): string {
  return `${atSeconds}.${keyring.digest(purpose, textOf(request, String(atSeconds)))}`
}

/** Whether `proof` was made for this request, with one of these secrets, within the last minute. */
export function checkDoctorProof(
  keyring: Pick<Keyring, 'digests'>,
  request: ProvedRequest,
  proof: string,
  nowSeconds: number,
): boolean {
  const [, at, digest] = /^(\d{1,12})\.([\w.-]{1,128})$/.exec(proof) ?? []
  if (at === undefined || digest === undefined) return false
  if (Math.abs(nowSeconds - Number(at)) > toleranceSeconds) return false
  // Every key is compared, so the time shows none of them.
  return keyring
    .digests(purpose, textOf(request, at))
    .map((known) => isSame(known, digest))
    .includes(true)
}

/** One line each. None of them can contain a line feed. */
function textOf({ method, origin, path }: ProvedRequest, at: string): string {
  return [method, origin, path, at].join('\n')
}

function isSame(known: string, sent: string): boolean {
  const [one, other] = [Buffer.from(known), Buffer.from(sent)]
  return one.length === other.length && timingSafeEqual(one, other)
}
