import { timingSafeEqual } from 'node:crypto'
import { AuthError } from '../errors.js'
import { createRandom } from '../lib/random.js'
import { createComputeTimes } from './compute-times.js'
import { createHashPool, type HashJob, type HashPool, type HashResult } from './hash-pool.js'
import { isTooLong, normalForm } from './password-text.js'
import type { PasswordCheck, Passwords } from './passwords.js'
import { createPeppers, type Peppers } from './peppers.js'
import { readStoredHash, type StoredHash, writeStoredHash } from './stored-hash.js'

export interface PasswordsOptions {
  /** bcrypt's cost: 2^cost rounds. */
  cost: number
  algorithm: 'bcrypt'
  /** Secrets kept apart from the database, newest first; may be empty. */
  pepper: readonly string[]
  /** Milliseconds of a clock that never goes back. */
  monotonic(): number
  sleep(milliseconds: number): Promise<void>
  /** Hashes computed at a time. Default 2. */
  threads?: number
  /** Hashes that may wait. Default 64. */
  maxQueue?: number
  /** Called once if hashing runs on the event loop, because there are no worker threads here. */
  onFallback?: (reason: string) => void
}

/** Characters of a bcrypt text before the digest: version, cost and salt. */
const saltLength = 29

/**
 * bcrypt over base64(HMAC-SHA-384(pepper, password)): nothing is cut at 72 bytes, and a stolen table alone is worth
 * little (NIST SP 800-63B-4 §3.1.1.2). Imported `$2a$ $2b$ $2y$` hashes verify too.
 *
 * @example const passwords = createPasswords({ ...settings.password, monotonic: world.monotonic, sleep })
 */
export function createPasswords(options: PasswordsOptions): Passwords {
  return createBcryptPasswords(options, createHashPool(options))
}

/** What hashing needs besides the pool. */
export type BcryptOptions = Pick<PasswordsOptions, 'cost' | 'pepper' | 'monotonic' | 'sleep'>

/** `createPasswords` over a pool that the caller made. */
export function createBcryptPasswords(options: BcryptOptions, pool: HashPool): Passwords {
  return new BcryptPasswords(options, pool)
}

class BcryptPasswords implements Passwords {
  readonly #options: BcryptOptions
  readonly #pool: HashPool
  readonly #peppers: Peppers
  readonly #times = createComputeTimes()
  readonly #random = createRandom()
  #dummy: Promise<StoredHash> | null = null

  constructor(options: BcryptOptions, pool: HashPool) {
    this.#options = options
    this.#pool = pool
    this.#peppers = createPeppers(options.pepper)
  }

  async hash(password: string): Promise<string> {
    const text = normalForm(password)
    if (text === null) throw new AuthError('invalid_request', { errors: [notUnicode] })
    if (isTooLong(text)) throw new AuthError('weak_password', { reasons: ['too_long'] })

    const { newest } = this.#peppers
    const { hash } = await this.#compute({ text: newest.preHash(text), salt: this.#options.cost }, this.#options.cost)
    return writeStoredHash(newest.id, hash)
  }

  async verify(password: string, stored: string | null): Promise<PasswordCheck> {
    // Asked for whatever there is to compare with: made for unknown users only, the first of them would take longer.
    const dummy = await this.#dummyHash()
    const found = readStoredHash(stored)
    const { cost, bcrypt } = found ?? dummy
    const text = this.#textFor(password, found ?? dummy)

    const job = { text: text ?? this.#random.token(), salt: bcrypt.slice(0, saltLength) }
    const { hash, milliseconds } = await this.#compute(job, cost)
    const matches = isSame(hash, bcrypt) && found !== null && text !== null
    if (!matches) {
      // A cheaper hash than others must not show, not even where a full queue hides the floor below.
      await this.#sleep(this.#times.slowest() - milliseconds)
      return { matches, outdated: false }
    }
    return { matches, outdated: found.pepperId !== this.#peppers.newest.id || cost < this.#options.cost }
  }

  async floor(startedAtMs: number): Promise<void> {
    await this.#sleep(this.#times.slowest() - (this.#options.monotonic() - startedAtMs))
  }

  close(): Promise<void> {
    return this.#pool.close()
  }

  /** What bcrypt gets; null if no password like this can belong to that hash. */
  #textFor(password: string, stored: StoredHash): string | null {
    if (isTooLong(password)) return null
    const text = normalForm(password)
    if (text === null) return null

    // Plain bcrypt was made elsewhere, from the bytes as they came and with bcrypt's own rule of 72.
    if (stored.pepperId === null) return password
    return this.#peppers.find(stored.pepperId)?.preHash(text) ?? null
  }

  async #compute(job: HashJob, cost: number): Promise<HashResult> {
    const result = await this.#pool.run(job)
    this.#times.note(cost, result.milliseconds)
    return result
  }

  /** A real hash of random bytes with today's cost, never the same twice and in no source file (ATK-004). */
  #dummyHash(): Promise<StoredHash> {
    this.#dummy ??= this.#makeDummy().catch((error: unknown) => {
      this.#dummy = null // the queue was full: the next one tries again
      throw error
    })
    return this.#dummy
  }

  async #makeDummy(): Promise<StoredHash> {
    const { cost } = this.#options
    const pepper = this.#peppers.newest
    const { hash } = await this.#compute({ text: pepper.preHash(this.#random.token()), salt: cost }, cost)
    return { pepperId: pepper.id, cost, bcrypt: hash }
  }

  async #sleep(milliseconds: number): Promise<void> {
    if (milliseconds > 0) await this.#options.sleep(Math.ceil(milliseconds))
  }
}

const notUnicode = { path: 'password', message: 'This is not Unicode text.' }

function isSame(hash: string, other: string): boolean {
  return hash.length === other.length && timingSafeEqual(Buffer.from(hash), Buffer.from(other))
}
