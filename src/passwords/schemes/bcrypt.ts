import type { Algorithm, BcryptRecipe, Computation, ReadHash } from '../recipe.js'

/** `$2x$` is not accepted: its hashes come from an implementation with a sign-extension bug. */
const pattern = /^\$2[aby]\$(0[4-9]|[12]\d|3[01])\$[./A-Za-z0-9]{53}$/
/** Characters before the digest: version, cost and salt. */
const saltLength = 29

const millisecondsAtCost0 = 0.07

/** `$2a$ $2b$ $2y$` */
export function readBcrypt(text: string): ReadHash | null {
  const cost = Number(pattern.exec(text)?.[1] ?? 0)
  if (cost === 0) return null
  return { ...computationOf({ scheme: 'bcrypt', salt: text.slice(0, saltLength) }), digest: text }
}

/** 2^cost rounds. */
export function createBcrypt(cost: number): Algorithm {
  return {
    fresh: () => computationOf({ scheme: 'bcrypt', salt: cost }),
    isBehind: ({ recipe }) => recipe.scheme !== 'bcrypt' || costOf(recipe) < cost,
  }
}

function computationOf(recipe: BcryptRecipe): Computation {
  const cost = costOf(recipe)
  const name = `$2b$${String(cost).padStart(2, '0')}`
  return { recipe, name, milliseconds: 2 ** cost * millisecondsAtCost0, kibibytes: 4 }
}

function costOf({ salt }: BcryptRecipe): number {
  return typeof salt === 'number' ? salt : Number(salt.slice(4, 6))
}
