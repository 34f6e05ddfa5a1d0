import { createHmac, timingSafeEqual } from 'node:crypto'
import { AuthError } from '../errors.js'
import { deriveKeyId } from '../lib/digest.js'
import { createRandom } from '../lib/random.js'
import type { HashFault, HashKind, HashSource } from '../model/imported-account.js'
import { createArgon2Package } from './argon2-package.js'
import type { HashResult } from './hash-job.js'
import { createHashPool, type HashPool } from './hash-pool.js'
import type { PasswordCheck, Passwords } from './passwords.js'
import { isTooLong, normalForm } from './passwords.js'
import { type Algorithm, type Computation, isTooCostly } from './recipe.js'
import { createArgon2id } from './schemes/argon2id.js'
import { createBcrypt } from './schemes/bcrypt.js'
import { hashNamed, readAnyHash, readStoredHash, type StoredHash, writeStoredHash } from './stored-hash.js'

/** Without a source, they are our own computations, as in tests and benchmarks. The code of requests has `Passwords`, where none can be forgotten. */
interface OwnPasswords extends Passwords {
  hash(password: string, source?: HashSource): Promise<string>
  verify(password: string, stored: string | null, source?: HashSource): Promise<PasswordCheck>
  requireRoom(source?: HashSource): void
}

interface PasswordsOptions {
  /** The scheme of new hashes; `argon2id` needs the package `@node-rs/argon2`. */
  algorithm: 'bcrypt' | 'argon2id'
  /** bcrypt's cost: 2^cost rounds. */
  cost: number
  /** Secrets kept apart from the database, newest first; may be empty. */
  pepper: readonly string[]
  /** Milliseconds of a clock that never goes back. */
  monotonic(): number
  sleep(milliseconds: number): Promise<void>
  /** Hashes computed at a time. Default 2. 0: one at a time on the event loop. */
  threads?: number
  /** Hashes that may wait. Default 64. */
  maxQueue?: number
  /** Called once if hashing runs on the event loop, because there are no worker threads here. */
  onFallback?: (reason: string) => void
  /** Called once if a stored hash cannot be checked because a package is not installed. */
  onUnreadable?: (reason: string) => void
}

/**
 * bcrypt or argon2id over base64(HMAC-SHA-384(pepper, password)). So bcrypt's limit of 72 bytes cuts nothing, and a stolen
 * table alone is of little use (NIST SP 800-63B-4 §3.1.1.2). Imported hashes verify too.
 *
 * @example const passwords = createPasswords({ ...settings.password, monotonic: world.monotonic, sleep })
 */
export function createPasswords(options: PasswordsOptions): OwnPasswords {
  return createPasswordsOver(options, createHashPool(options))
}

/** What hashing needs besides the pool. */
export type HashingOptions = Omit<PasswordsOptions, 'threads' | 'maxQueue' | 'onFallback'>

/** `createPasswords` over a pool that the caller made. */
export function createPasswordsOver(options: HashingOptions, pool: HashPool): OwnPasswords {
  return new HashedPasswords(options, pool)
}

class HashedPasswords implements OwnPasswords {
  readonly kind: HashKind
  readonly #options: HashingOptions
  readonly #pool: HashPool
  readonly #peppers: Peppers
  readonly #algorithm: Algorithm
  readonly #argon2 = createArgon2Package()
  readonly #times = createComputeTimes()
  readonly #random = createRandom()
  #dummy: Promise<StoredHash> | null = null
  /** The minimum delay is unknown until one hash of this kind was timed. */
  #slowest: HashKind
  #timing: Promise<void> | null = null
  #reportedUnreadable = false

  constructor(options: HashingOptions, pool: HashPool) {
    this.#options = options
    this.#pool = pool
    this.#peppers = createPeppers(options.pepper)
    this.#algorithm = options.algorithm === 'argon2id' ? createArgon2id(this.#random.id) : createBcrypt(options.cost)
    this.kind = kindOf(this.#algorithm.fresh())
    this.#slowest = this.kind
  }

  async hash(password: string, source?: HashSource): Promise<string> {
    const text = normalForm(password)
    if (text === null) throw new AuthError('invalid_request', { errors: [notUnicode] })
    if (isTooLong(text)) throw new AuthError('weak_password', { reasons: ['too_long'] })

    const { newest } = this.#peppers
    const { hash } = await this.#compute(newest.preHash(text), this.#algorithm.fresh(), source)
    return writeStoredHash(newest.id, hash)
  }

  async verify(password: string, stored: string | null, source?: HashSource): Promise<PasswordCheck> {
    // Made for every comparison. If only unknown users needed it, the first of them would take longer.
    const dummy = await this.#dummyHash()
    await this.#timeSlowest()
    const found = this.#read(stored)
    const against = found ?? dummy
    const text = this.#textFor(password, against)

    const { hash, milliseconds } = await this.#compute(text ?? this.#random.token(), against, source)
    const matches = isSame(hash, against.digest) && found !== null && text !== null
    if (!matches) {
      // A cheaper hash must not show by its time, even where a full queue hides the minimum delay below.
      await this.#sleep(this.#times.slowest() - milliseconds)
      return { matches, outdated: false }
    }
    if (isCutShort(text, found)) return { matches, outdated: false }
    return { matches, outdated: found.pepperId !== this.#peppers.newest.id || this.#algorithm.isBehind(found) }
  }

  requireRoom(source?: HashSource): void {
    this.#pool.requireRoom(source)
  }

  async floor(startedAtMs: number): Promise<void> {
    await this.#sleep(this.#times.slowest() - (this.#options.monotonic() - startedAtMs))
  }

  inspect(stored: string): HashKind | HashFault {
    const hash = readAnyHash(stored)
    if (!hash) return 'hash_unsupported'
    if (isTooCostly(hash)) return 'hash_too_costly'
    if (hash.pepperId !== null && !this.#peppers.find(hash.pepperId)) return 'hash_pepper_unknown'
    return this.#canCompute(hash) ? kindOf(hash) : 'hash_package_missing'
  }

  expect(kind: HashKind): void {
    if (kind.milliseconds > this.#slowest.milliseconds) this.#slowest = kind
  }

  queued(): number {
    return this.#pool.queued()
  }

  close(): Promise<void> {
    return this.#pool.close()
  }

  #read(stored: string | null): StoredHash | null {
    const hash = readStoredHash(stored)
    if (!hash || this.#canCompute(hash)) return hash
    if (!this.#reportedUnreadable) this.#options.onUnreadable?.(this.#argon2.fault() ?? '')
    this.#reportedUnreadable = true
    return null
  }

  #canCompute({ recipe }: Computation): boolean {
    return recipe.scheme !== 'argon2id' || this.#argon2.fault() === null
  }

  /** The text to hash for the password; null if this password can never match that hash. */
  #textFor(password: string, { pepperId, form }: StoredHash): string | null {
    if (isTooLong(password)) return null
    const text = normalForm(password)
    if (text === null) return null

    // An imported hash follows its own rules: mostly the bytes as they came, and bcrypt's limit of 72.
    if (pepperId === null) return form === undefined ? password : password.normalize(form)
    return this.#peppers.find(pepperId)?.preHash(text) ?? null
  }

  async #compute(text: string, { recipe, name }: Computation, source?: HashSource): Promise<HashResult> {
    const result = await this.#pool.run({ ...recipe, text }, source)
    this.#times.note(name, result.milliseconds)
    return result
  }

  /** A hash of random bytes with today's parameters, different each time and in no source file (ATK-004). */
  #dummyHash(): Promise<StoredHash> {
    this.#dummy ??= this.#makeDummy().catch((error: unknown) => {
      this.#dummy = null // the queue was full: the next one tries again
      throw error
    })
    return this.#dummy
  }

  async #makeDummy(): Promise<StoredHash> {
    const pepper = this.#peppers.newest
    const fresh = this.#algorithm.fresh()
    const { hash } = await this.#compute(pepper.preHash(this.#random.token()), fresh)
    const dummy = readAnyHash(writeStoredHash(pepper.id, hash))
    if (!dummy) throw new AuthError('internal_error', { cause: new TypeError(`unreadable hash of ${fresh.name}`) })
    return dummy
  }

  async #timeSlowest(): Promise<void> {
    const { name } = this.#slowest
    if (this.#times.knows(name)) return
    const hash = hashNamed(name)
    if (!hash || !this.#canCompute(hash)) return // no password can match that hash here
    this.#timing ??= this.#compute(this.#random.token(), hash)
      .then(() => {})
      .finally(() => {
        this.#timing = null
      })
    await this.#timing
  }

  async #sleep(milliseconds: number): Promise<void> {
    if (milliseconds > 0) await this.#options.sleep(Math.ceil(milliseconds))
  }
}

/** How much of a password plain bcrypt reads. */
const bcryptBytes = 72

/**
 * Whether an imported bcrypt hash ignored the end of the password. Then the typed text may have another end and still match,
 * so it must not become a new hash: that would lock out the owner and accept the guess.
 */
function isCutShort(text: string, { pepperId, recipe }: StoredHash): boolean {
  return pepperId === null && recipe.scheme === 'bcrypt' && Buffer.byteLength(text) > bcryptBytes
}

const notUnicode = { path: 'password', message: 'This is not Unicode text.' }

function kindOf({ name, milliseconds }: Computation): HashKind {
  return { name, milliseconds }
}

function isSame(hash: string, other: string): boolean {
  return hash.length === other.length && timingSafeEqual(Buffer.from(hash), Buffer.from(other))
}

/** What comparisons took lately, by kind of hash: the floor under failed sign-ins. */
interface ComputeTimes {
  note(name: string, milliseconds: number): void
  knows(name: string): boolean
  /** Milliseconds: the slowest of the last computations of any kind, at most 5 s. */
  slowest(): number
}

/** So many of each kind are remembered: one that a pause of the machine made slow is forgotten again. */
const remembered = 32
/** Kinds that are remembered; the one not seen for longest goes. Some libraries draw the number of rounds by lot. */
const rememberedKinds = 64
const mostMilliseconds = 5_000

export function createComputeTimes(): ComputeTimes {
  const lately = new Map<string, number[]>()

  return {
    note(name, milliseconds) {
      const times = [...(lately.get(name) ?? []), milliseconds].slice(-remembered)
      lately.delete(name) // a Map keeps the order of insertion
      lately.set(name, times)
      const [oldest] = lately.keys()
      if (oldest !== undefined && lately.size > rememberedKinds) lately.delete(oldest)
    },
    knows: (name) => lately.has(name),
    slowest: () => Math.min(mostMilliseconds, Math.max(0, ...[...lately.values()].flat())),
  }
}

/** A key under which passwords are pre-hashed. */
interface Pepper {
  id: string
  /**
   * The 64 characters that bcrypt gets in the password's place, so that its 72 bytes never cut anything and no byte is
   * a NUL.
   */
  preHash(password: string): string
}

interface Peppers {
  /** The one of new hashes. Without a pepper its id is `-`. */
  newest: Pepper
  /** Also the one of hashes from before there was a pepper; null when it is gone. */
  find(id: string): Pepper | null
}

function createPeppers(secrets: readonly string[]): Peppers {
  // A fixed text keys the hashes that have no pepper: they differ from every other use of HMAC-SHA-384.
  const none = createPepper('-', 'latchkey/password/v1')
  const peppers = secrets.map((secret) => createPepper(deriveKeyId(secret, 'latchkey/pepper-id'), secret))
  return {
    newest: peppers[0] ?? none,
    find: (id) => [...peppers, none].find((pepper) => pepper.id === id) ?? null,
  }
}

function createPepper(id: string, key: string): Pepper {
  return { id, preHash: (password) => createHmac('sha384', key).update(password, 'utf8').digest('base64') }
}
