import type { Computation, ReadHash, ScryptRecipe } from '../recipe.js'
import { byteLength, readBase64 } from './base64.js'

const phcPattern =
  /^\$scrypt\$ln=([1-9]|1\d|2[0-4]),r=([1-9]\d{0,3}),p=([1-9]\d{0,3})\$([A-Za-z0-9+/]+)\$([A-Za-z0-9+/]+)$/

/** better-auth: both hexadecimal, its parameters stand nowhere, and the salt is its digits, not the bytes they tell. */
const betterAuthPattern = /^([\da-f]{32}):([\da-f]{128})$/
const betterAuth = { cost: 16_384, blockSize: 16, parallelization: 1 }

const millisecondsABlock = 0.00035

/** `$scrypt$ln=14,r=8,p=1$<salt>$<digest>`, the PHC string format, and better-auth's `<salt>:<digest>`. */
export function readScrypt(text: string): ReadHash | null {
  return readPhc(text) ?? readBetterAuth(text)
}

function readPhc(text: string): ReadHash | null {
  const [, log2, blockSize, parallelization, salt = '', digest = ''] = phcPattern.exec(text) ?? []
  const saltBytes = readBase64(salt, 1, 64)
  const digestBytes = readBase64(digest, 16, 64)
  if (saltBytes === null || digestBytes === null) return null
  if (Number(log2) >= 16 * Number(blockSize)) return null // RFC 7914 §2: it could not be computed
  const parameters = {
    cost: 2 ** Number(log2),
    blockSize: Number(blockSize),
    parallelization: Number(parallelization),
    bytes: byteLength(digestBytes),
  }
  return { ...computationOf({ scheme: 'scrypt', salt: saltBytes, ...parameters }), digest: digestBytes }
}

function readBetterAuth(text: string): ReadHash | null {
  const [, salt, digest] = betterAuthPattern.exec(text) ?? []
  if (salt === undefined || digest === undefined) return null
  const recipe = { scheme: 'scrypt', salt: Buffer.from(salt).toString('base64'), ...betterAuth, bytes: 64 } as const
  return { ...computationOf(recipe), digest: Buffer.from(digest, 'hex').toString('base64'), form: 'NFKC' }
}

function computationOf(recipe: ScryptRecipe): Computation {
  const { cost, blockSize, parallelization } = recipe
  return {
    recipe,
    name: `$scrypt$ln=${Math.log2(cost)},r=${blockSize},p=${parallelization}`,
    milliseconds: cost * blockSize * parallelization * millisecondsABlock,
    kibibytes: (Math.max(cost, parallelization) * blockSize * 128) / 1024,
  }
}
