/** How a hash is computed, but for the password: what a thread needs to compute it again. Salts are base64. */
export type Recipe = BcryptRecipe | Argon2idRecipe | ScryptRecipe | Pbkdf2Recipe

export interface BcryptRecipe {
  scheme: 'bcrypt'
  /** A cost, for a new salt; or the first 29 characters of a hash, to compute it again. */
  salt: number | string
}

export interface Argon2idRecipe {
  scheme: 'argon2id'
  salt: string
  memoryKiB: number
  passes: number
  parallelism: number
  /** Of the digest, as below. */
  bytes: number
}

export interface ScryptRecipe {
  scheme: 'scrypt'
  salt: string
  /** N, a power of two. */
  cost: number
  /** r */
  blockSize: number
  /** p */
  parallelization: number
  bytes: number
}

export interface Pbkdf2Recipe {
  scheme: 'pbkdf2'
  salt: string
  digest: 'sha256' | 'sha512'
  iterations: number
  bytes: number
}

/** A recipe and what it costs. */
export interface Computation {
  recipe: Recipe
  /** Scheme and parameters, without salt: what takes equally long has one name. */
  name: string
  /** Estimated, with room for slower machines: to tell what is too dear before anybody has to wait for it. */
  milliseconds: number
  kibibytes: number
}

/** A text that was read: computing its recipe again with the right password gives `digest`. */
export interface ReadHash extends Computation {
  /** The whole text for bcrypt and argon2id, else base64. */
  digest: string
  /** A form that passwords are brought into first. Default: none, they are hashed as they came. */
  form?: 'NFKC'
}

/** What new hashes are made with. */
export interface Algorithm {
  /** With a new salt each time. */
  fresh(): Computation
  /** That hash is weaker than what `fresh` makes, or of another scheme. */
  isBehind(stored: Computation): boolean
}

/** What one computation may take that others have chosen: it holds a thread, and every failed sign-in waits as long. */
const mostMilliseconds = 2_000
const mostKibibytes = 64 * 1024

export function isTooCostly({ milliseconds, kibibytes }: Computation): boolean {
  return milliseconds > mostMilliseconds || kibibytes > mostKibibytes
}
