/** A stored text that we can compare with. */
export interface StoredHash {
  /** Id of the pepper of our own scheme, `-` for none; null: plain bcrypt, imported. */
  pepperId: string | null
  cost: number
  /** The bcrypt text of 60 characters. */
  bcrypt: string
}

/** Imported hashes above it would hold a thread for minutes: whoever can store one could stop every sign-in. */
const highestImportedCost = 18

const bcryptPattern = /^\$2[aby]\$(0[4-9]|[12]\d|3[01])\$[./A-Za-z0-9]{53}$/
const ownPattern = /^hmac-sha384:(-|[\w-]{8}):(\$2b\$.+)$/

/** Reads what stands in a user's row; null for anything else, `$2x$` (the sign-extension bug) among it. */
export function readStoredHash(stored: string | null): StoredHash | null {
  if (typeof stored !== 'string') return null

  const own = ownPattern.exec(stored)
  const bcrypt = own?.[2] ?? stored
  const cost = Number(bcryptPattern.exec(bcrypt)?.[1] ?? 0)
  if (cost === 0 || (!own && cost > highestImportedCost)) return null

  return { pepperId: own?.[1] ?? null, cost, bcrypt }
}

/** `hmac-sha384:<pepper id>:$2b$12$…` */
export function writeStoredHash(pepperId: string, bcrypt: string): string {
  return `hmac-sha384:${pepperId}:${bcrypt}`
}
