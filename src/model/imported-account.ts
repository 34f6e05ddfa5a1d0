import type { ErrorCode } from '../errors.js'

/** What `auth.users.import` takes of one account. */
export interface ImportedAccount {
  email: string
  name?: string | null
  /** Text of bcrypt, argon2id, scrypt or PBKDF2. Without one the user comes in by resetting the password. */
  passwordHash?: string | null
  /** Whether the address is known to be the user's. Default: false. */
  emailVerified?: boolean
  roles?: readonly string[]
  /** Extra user fields: what JSON can carry, at most 16 KiB. They do not go through `registration.fields`. */
  fields?: Readonly<Record<string, unknown>>
  /** Default: now. */
  createdAt?: Date | string
  /** Until it is enabled. Default: false. */
  disabled?: boolean
  /** Passkeys, which go on working at the same domain. Default: none. */
  passkeys?: readonly ImportedPasskey[]
}

/**
 * A WebAuthn credential that another system has registered. Binary values are base64 or base64url. A private key stays in its
 * authenticator, so nothing of it is a secret.
 *
 * @example
 * const passkey = { credentialId: 'JxSvy4Hx…', publicKey: 'pQECAyYgASFY…', synced: true, userHandle: 'NGQyZjE3…' }
 */
export interface ImportedPasskey {
  /** Up to 1,023 bytes. */
  credentialId: string
  /** The COSE key (RFC 9052) of ES256, EdDSA or RS256. */
  publicKey: string
  /**
   * Whether it can be synchronised between devices: `backup eligible`, `multiDevice`. It must be true to the authenticator, which
   * says it again at each sign-in.
   */
  synced: boolean
  /** Whether it is synchronised. Default: `synced`. */
  backedUp?: boolean
  /** `user.id` of its registration, 1 to 64 bytes. Default: unknown, and then not compared. */
  userHandle?: string | null
  /** The counter at its last use. Default: 0. */
  signCount?: number
  /** The domain it was made for. Default: `passkeys.rpId`. Where that is another one, it does not sign in. */
  rpId?: string
  /** How the authenticator is reached, such as `internal`, `hybrid`. Default: none are known. */
  transports?: readonly string[]
  /** The model of the authenticator, a UUID. Default: unknown. */
  aaguid?: string | null
  /** What the account page shows. Default: that of the provider, or `Passkey`. */
  name?: string | null
  /** Default: that of the account. */
  createdAt?: Date | string
  lastUsedAt?: Date | string | null
}

/**
 * A document of the `users` collection of codehooks-auth, recognised by its `_id`. One that is not `active` is imported
 * as disabled, one that is, as verified. Of the rest of it only `created` and `name` are kept: everything else could be
 * written by anybody who signed up.
 */
export interface CodehooksAuthUser {
  _id: string
  email: string | null
  active?: boolean
  /** bcrypt. */
  password?: string | null
  created?: Date | string
  [field: string]: unknown
}

/** What became of one record. */
export interface ImportedRecord {
  /** Its place in the input, from 0. */
  index: number
  /** `skipped`: its address has an account already, from this import or from before, or is kept for one. */
  status: 'created' | 'skipped' | 'failed'
  /** The account with that address, if there is one. */
  id?: string
  /** Why it was not created. */
  code?: ErrorCode | HashFault
  /** Which property of the record is wrong. */
  path?: string
}

/** What `auth.users.import` answers. It holds nothing of the records but their places. */
export interface ImportReport {
  created: number
  skipped: number
  failed: number
  /**
   * How many of the created accounts have a bcrypt hash; absent when none has. bcrypt reads the first 72 bytes of a password,
   * so for a longer one, any password that begins with these 72 bytes signs in until the user sets a new password.
   */
  bcryptHashes?: number
  /** In the order of the input. */
  items: ImportedRecord[]
}

/** A kind of password hash: its scheme and parameters, and how long one computation is estimated to take. */
export interface HashKind {
  name: string
  milliseconds: number
}

/** Why a hash that was made elsewhere cannot be taken over. */
export type HashFault = 'hash_unsupported' | 'hash_too_costly' | 'hash_pepper_unknown' | 'hash_package_missing'

/** The client that a password is hashed for. The queue serves sources one after the other. */
export interface HashSource {
  /** The client's network, or its known device; null: our own computations, which share no bound with clients. */
  key: string | null
  /** A known device of the account. Such sources have places of their own, and are every other one that is served. */
  known: boolean
}
