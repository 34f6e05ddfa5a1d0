import { createPublicKey, type KeyObject } from 'node:crypto'
import { isObject, parseJsonObject } from '../lib/json-object.js'

/** The usable keys of a published key set (RFC 7517). */
export interface KeySet {
  /** Equal for sets with the same keys under the same names. */
  fingerprint: string
  /** Keys that may have signed this. Without a key id any of the right kind; few in any case. */
  matching(algorithm: string, keyId: string | undefined): readonly KeyObject[]
  /** Whether a private or symmetric key was published and refused: anybody could sign with it. */
  leaksPrivateKey: boolean
}

interface PublicKey {
  id: string | undefined
  /** The one algorithm it is for, if it says so (RFC 7517 §4.4). */
  algorithm: string | undefined
  /** As in `kindOf`. */
  kind: string
  key: KeyObject
}

/** More in one set are a mistake, or somebody's game. */
const mostKeys = 100
/** How many keys one token may be tried with. */
const mostTries = 3

/**
 * Reads a key set. Keys that are not for checking signatures, that no token of these algorithms can be checked by, or
 * that are unsound (RFC 7518 §3.3, §6.3) are left out, as are members that nobody knows.
 *
 * @returns null when the text is no key set
 */
export function readKeySet(text: string, algorithms: readonly string[]): KeySet | null {
  const document = parseJsonObject(text)
  if (document === null || !Array.isArray(document.keys)) return null
  const kinds = new Set(algorithms.map(kindOf))
  const published = document.keys.slice(0, mostKeys)
  const keys = published
    .map(readKey)
    .filter((key) => key !== null)
    .filter(({ kind, algorithm }) => kinds.has(kind) && (algorithm === undefined || algorithms.includes(algorithm)))
  return {
    fingerprint: fingerprintOf(keys),
    leaksPrivateKey: published.some(isPrivate),
    matching(algorithm, keyId) {
      const fits = (key: PublicKey) =>
        key.kind === kindOf(algorithm) &&
        (key.algorithm === undefined || key.algorithm === algorithm) &&
        (keyId === undefined || key.id === keyId)
      return keys
        .filter(fits)
        .slice(0, mostTries)
        .map(({ key }) => key)
    },
  }
}

/** What a key must be for an algorithm: each curve has its own (RFC 7518 §3.4), the RSA schemes share one. */
function kindOf(algorithm: string): string {
  const curves: Readonly<Record<string, string>> = { ES256: 'P-256', ES384: 'P-384', ES512: 'P-521' }
  return curves[algorithm] ?? (algorithm.startsWith('Ed') ? 'Ed25519' : 'RSA')
}

function readKey(jwk: unknown): PublicKey | null {
  if (!isObject(jwk)) return null
  const { kid, alg, use, key_ops: operations, crv } = jwk
  if (kid !== undefined && typeof kid !== 'string') return null
  if (alg !== undefined && typeof alg !== 'string') return null
  if (use !== undefined && use !== 'sig') return null
  if (operations !== undefined && !(Array.isArray(operations) && operations.includes('verify'))) return null
  if (isPrivate(jwk)) return null

  const key = importKey(jwk)
  if (key === null || !isSound(key)) return null
  return { id: kid, algorithm: alg, kind: jwk.kty === 'RSA' ? 'RSA' : String(crv), key }
}

/** A private or symmetric key (RFC 7518 sections 6.2.2, 6.3.2 and 6.4). */
function isPrivate(jwk: unknown): boolean {
  return isObject(jwk) && ('d' in jwk || 'k' in jwk)
}

function importKey(jwk: Readonly<Record<string, unknown>>): KeyObject | null {
  try {
    return createPublicKey({ key: { ...jwk }, format: 'jwk' })
  } catch {
    return null
  }
}

/** RSA: long enough to hold, not so long or of such an exponent that checking takes long (NIST SP 800-89 §5.3.3). */
function isSound({ asymmetricKeyType, asymmetricKeyDetails }: KeyObject): boolean {
  if (asymmetricKeyType !== 'rsa') return asymmetricKeyType === 'ec' || asymmetricKeyType === 'ed25519'
  const { modulusLength = 0, publicExponent = 0n } = asymmetricKeyDetails ?? {}
  if (modulusLength < 2048 || modulusLength > 8192) return false
  return publicExponent >= 3n && publicExponent < 2n ** 32n && publicExponent % 2n === 1n
}

function fingerprintOf(keys: readonly PublicKey[]): string {
  const texts = keys.map(({ id, algorithm, key }) => {
    return JSON.stringify([id, algorithm, key.export({ type: 'spki', format: 'der' }).toString('base64')])
  })
  return texts.toSorted().join()
}
