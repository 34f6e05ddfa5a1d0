import { createPublicKey, type KeyObject } from 'node:crypto'
import { isObject, parseJsonObject } from '../lib/json-object.js'
import type { PublishedKey } from '../model/key-set.js'

/** The usable keys of a published key set (RFC 7517). */
export interface KeySet {
  /** Equal for sets with the same keys and key ids. */
  fingerprint: string
  /** The usable keys, as published. */
  keys: readonly PublishedKey[]
  /** Keys that may have signed the token. Without a key id: all keys of that kind, up to a small limit. */
  matching(algorithm: string, keyId: string | undefined): readonly KeyObject[]
  /** Whether the set contained a private or symmetric key, with which anyone could sign tokens. It was refused. */
  leaksPrivateKey: boolean
}

interface UsableKey {
  id: string | undefined
  /** The one algorithm that the key is for, if it names one (RFC 7517 §4.4). */
  algorithm: string | undefined
  /** As in `kindOf`. */
  kind: string
  use: string | null
  key: KeyObject
}

/** More keys in one set are a mistake or an attack. */
const mostKeys = 100
/** How many keys may be tried for one token. */
const mostTries = 3

/**
 * Reads a key set. It leaves out keys that are not for signatures, keys that fit none of these algorithms, keys that are
 * unsound (RFC 7518 §3.3, §6.3), and unknown members.
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
    keys: keys.map(({ id, algorithm, use }) => ({ kid: id ?? null, alg: algorithm ?? null, use })),
    leaksPrivateKey: published.some(isPrivate),
    matching(algorithm, keyId) {
      const fits = (key: UsableKey) =>
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

/** The kind of key that an algorithm needs: each curve has its own (RFC 7518 §3.4), and the RSA schemes share one. */
function kindOf(algorithm: string): string {
  const curves: Readonly<Record<string, string>> = { ES256: 'P-256', ES384: 'P-384', ES512: 'P-521' }
  return curves[algorithm] ?? (algorithm.startsWith('Ed') ? 'Ed25519' : 'RSA')
}

function readKey(jwk: unknown): UsableKey | null {
  if (!isObject(jwk)) return null
  const { kid, alg, use, key_ops: operations, crv } = jwk
  if (kid !== undefined && typeof kid !== 'string') return null
  if (alg !== undefined && typeof alg !== 'string') return null
  if (use !== undefined && use !== 'sig') return null
  if (operations !== undefined && !(Array.isArray(operations) && operations.includes('verify'))) return null
  if (isPrivate(jwk)) return null

  const key = importKey(jwk)
  if (key === null || !isSound(key)) return null
  return { id: kid, algorithm: alg, kind: jwk.kty === 'RSA' ? 'RSA' : String(crv), use: use ?? null, key }
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

/** RSA keys must be long enough to be secure. An excessive length or exponent would make checks slow (NIST SP 800-89 §5.3.3). */
function isSound({ asymmetricKeyType, asymmetricKeyDetails }: KeyObject): boolean {
  if (asymmetricKeyType !== 'rsa') return asymmetricKeyType === 'ec' || asymmetricKeyType === 'ed25519'
  const { modulusLength = 0, publicExponent = 0n } = asymmetricKeyDetails ?? {}
  if (modulusLength < 2048 || modulusLength > 8192) return false
  return publicExponent >= 3n && publicExponent < 2n ** 32n && publicExponent % 2n === 1n
}

function fingerprintOf(keys: readonly UsableKey[]): string {
  const texts = keys.map(({ id, algorithm, key }) => {
    return JSON.stringify([id, algorithm, key.export({ type: 'spki', format: 'der' }).toString('base64')])
  })
  return texts.toSorted().join()
}
