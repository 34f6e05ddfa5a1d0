import type { Algorithm, Argon2idRecipe, Computation, ReadHash } from '../recipe.js'
import { byteLength, readBase64 } from './base64.js'

/** The second of the parameter sets that OWASP recommends; 128 bits of salt, 256 of digest (RFC 9106 §3.1). */
const today = { memoryKiB: 19 * 1024, passes: 2, parallelism: 1, bytes: 32 }

/** Version 19 in the order of its reference implementation, without key id and associated data. */
const pattern =
  /^\$argon2id\$v=19\$m=([1-9]\d{0,9}),t=([1-9]\d{0,9}),p=([1-9]\d{0,2})\$([A-Za-z0-9+/]+)\$([A-Za-z0-9+/]+)$/

const millisecondsAKibibyte = 0.0004

/** `$argon2id$v=19$m=19456,t=2,p=1$<salt>$<digest>`, the PHC string format. */
export function readArgon2id(text: string): ReadHash | null {
  const [, memory, passes, parallelism, salt = '', digest = ''] = pattern.exec(text) ?? []
  const saltBytes = readBase64(salt, 8, 64)
  const digestBytes = readBase64(digest, 16, 64)
  if (saltBytes === null || digestBytes === null) return null

  const parameters = { memoryKiB: Number(memory), passes: Number(passes), parallelism: Number(parallelism) }
  if (parameters.memoryKiB < 8 * parameters.parallelism || parameters.parallelism > 255) return null
  const recipe = { scheme: 'argon2id', salt: saltBytes, ...parameters, bytes: byteLength(digestBytes) } as const
  return { ...computationOf(recipe), digest: text }
}

/** @param newSalt 16 random bytes, base64url */
export function createArgon2id(newSalt: () => string): Algorithm {
  return {
    fresh() {
      const salt = Buffer.from(newSalt(), 'base64url').toString('base64')
      return computationOf({ scheme: 'argon2id', salt, ...today })
    },
    isBehind: ({ recipe }) =>
      recipe.scheme !== 'argon2id' || recipe.memoryKiB < today.memoryKiB || recipe.passes < today.passes,
  }
}

function computationOf(recipe: Argon2idRecipe): Computation {
  const { memoryKiB, passes, parallelism } = recipe
  return {
    recipe,
    name: `$argon2id$v=19$m=${memoryKiB},t=${passes},p=${parallelism}`,
    milliseconds: memoryKiB * passes * millisecondsAKibibyte,
    kibibytes: memoryKiB,
  }
}
