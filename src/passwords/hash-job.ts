import type { Recipe } from './recipe.js'

/** One computation. */
export type HashJob = Recipe & { text: string }

export interface HashResult {
  /** The whole text for bcrypt and argon2id, else the digest in base64. */
  hash: string
  /** What the computation took, without waiting for its turn. */
  milliseconds: number
}
