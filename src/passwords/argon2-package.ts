import { createRequire } from 'node:module'
import type { hash } from '@node-rs/argon2'
import { requirePackage } from '../lib/optional-package.js'

const require = createRequire(import.meta.url ?? __filename)

/** @throws what `require` throws where the package is missing, or lacks the native code for this platform */
export function requireArgon2(): { hash: typeof hash } {
  return requirePackage('@node-rs/argon2', () => require('@node-rs/argon2'))
}

/** The optional package `@node-rs/argon2`. */
export interface Argon2Package {
  /** Why it cannot be used here, as an error's code; null when it can. Synchronous and asked of the disk once. */
  fault(): string | null
}

export function createArgon2Package(): Argon2Package {
  let known: string | null | undefined
  return {
    fault() {
      if (known === undefined) known = load()
      return known
    },
  }
}

/** Loads it: a package with native code may be there and yet lack the code for this platform. */
function load(): string | null {
  try {
    requireArgon2()
    return null
  } catch (error) {
    return error instanceof Error && 'code' in error ? String(error.code) : 'it does not load'
  }
}
