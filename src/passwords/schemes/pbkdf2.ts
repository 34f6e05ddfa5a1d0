import type { Computation, Pbkdf2Recipe, ReadHash } from '../recipe.js'
import { byteLength, readBase64 } from './base64.js'

/** With `i=` as PHC strings have it, or the bare number and the base64 of passlib, where a dot stands for a plus. */
const phcPattern =
  /^\$pbkdf2-(sha256|sha512)\$(?:i=)?([1-9]\d{0,9})(?:,l=(\d{1,3}))?\$([A-Za-z0-9+/.]+)\$([A-Za-z0-9+/.]+)$/

/** Django, where the salt is the text itself. */
const djangoPattern = /^pbkdf2_sha256\$([1-9]\d{0,9})\$([\x21-\x23\x25-\x7e]{1,128})\$([A-Za-z0-9+/]{43})=$/

const digestBytes = { sha256: 32, sha512: 64 } as const
const millisecondsAnIteration = 0.0006

/** `$pbkdf2-sha256$i=600000$<salt>$<digest>` (PHC, passlib) and `pbkdf2_sha256$600000$<salt>$<digest>` (Django). */
export function readPbkdf2(text: string): ReadHash | null {
  return readPhc(text) ?? readDjango(text)
}

function readPhc(text: string): ReadHash | null {
  const [, name, iterations, length, salt = '', digest = ''] = phcPattern.exec(text) ?? []
  const saltBytes = readBase64(salt.replaceAll('.', '+'), 1, 128)
  const found = readBase64(digest.replaceAll('.', '+'), 16, 64)
  if (saltBytes === null || found === null) return null
  const bytes = byteLength(found)
  if (length !== undefined && Number(length) !== bytes) return null
  const hash = name === 'sha512' ? 'sha512' : 'sha256'
  const recipe = { scheme: 'pbkdf2', salt: saltBytes, digest: hash, iterations: Number(iterations), bytes } as const
  return { ...computationOf(recipe), digest: found }
}

function readDjango(text: string): ReadHash | null {
  const [, iterations, salt, digest = ''] = djangoPattern.exec(text) ?? []
  const found = readBase64(digest, 32, 32)
  if (salt === undefined || found === null) return null
  const saltBytes = Buffer.from(salt).toString('base64')
  const parameters = { digest: 'sha256', iterations: Number(iterations), bytes: 32 } as const
  return { ...computationOf({ scheme: 'pbkdf2', salt: saltBytes, ...parameters }), digest: found }
}

/** Every block of the digest goes through all iterations (RFC 8018 §5.2). */
function computationOf(recipe: Pbkdf2Recipe): Computation {
  const rounds = recipe.iterations * Math.ceil(recipe.bytes / digestBytes[recipe.digest])
  const name = `$pbkdf2-${recipe.digest}$i=${rounds}`
  return { recipe, name, milliseconds: rounds * millisecondsAnIteration, kibibytes: 1 }
}
