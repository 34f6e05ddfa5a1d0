import type { FactorKind } from './factor-kind.js'

/** A passkey as the account shows it: a WebAuthn credential. A suspended one is not shown. */
export interface Passkey {
  kind: 'passkey'
  id: string
  /** The RP id that it was made for. It works for no other. */
  rpId: string
  /** Unix seconds. */
  enabledAt: number
}

/** A signature that was verified, and what the authenticator said beside it. */
export interface PasskeyProof {
  kind: 'passkey'
  id: string
  /** The counter that was stored when the signature was verified. It must still be that. null: any, for a synced passkey. */
  seenCount: number | null
  signCount: number
  backedUp: boolean
  /** Whether the authenticator checked a PIN, a finger or a face. */
  userVerified: boolean
}

export const passkey: FactorKind<Passkey, PasskeyProof> = {
  kind: 'passkey',
  // A passkey may be made in passing, on one device. The password must not stop working on the others for it.
  asks: false,
  methods: ['passkey'],
  signsIn: true,
  worksAt: ({ rpId: own }, rpId) => own === rpId,
  amr: ({ userVerified }) => (userVerified ? ['pop', 'user'] : ['pop']),
  sameProof: (was, is) => was.id === is.id,
}

/** What the account shows of it. */
export function toShownPasskey({ id, rpId, createdAt }: PasskeyRecord): Passkey {
  return { kind: 'passkey', id, rpId, enabledAt: createdAt }
}

/** Whether a passkey signs in at that site: it was made for its RP id and is not suspended. null: passkeys are off. */
export function isUsable({ rpId, suspendedAt }: PasskeyRecord, site: { rpId: string } | null): boolean {
  return rpId === site?.rpId && suspendedAt === null
}

/** Whether this can be a way to reach an authenticator, such as `usb` (WebAuthn §5.8.4). New ones may come. */
export function isTransport(word: unknown): boolean {
  return typeof word === 'string' && /^[\w-]{1,32}$/.test(word)
}

/** The longest that the store keeps for a user, in characters. */
const longestHandle = 64

/**
 * The handle that all passkeys of an imported account have. The user's next passkey gets it, too, so that authenticators know one
 * user. null: they have several or none, or it is too long to keep.
 */
export function sharedHandle(passkeys: readonly PasskeyRecord[]): string | null {
  const [handle = null, ...others] = new Set(passkeys.map(({ userHandle }) => userHandle))
  return others.length === 0 && handle !== null && handle.length <= longestHandle ? handle : null
}

/** A WebAuthn credential as the store keeps it. Times are Unix seconds; binary values are base64url. */
export interface PasskeyRecord {
  id: string
  userId: string
  /** The RP id that it was made for. It works for no other. */
  rpId: string
  credentialId: string
  /** COSE key (RFC 9052). */
  publicKey: string
  /** COSE algorithm, such as -7 for ES256. */
  algorithm: number
  signCount: number
  /** Whether it can be synchronised between devices (BE). Never changes. */
  synced: boolean
  backedUp: boolean
  transports: readonly string[]
  /** The model of the authenticator, as it says itself: shown, never believed. */
  aaguid: string
  name: string
  /** What the authenticator returns as the user: `user.id` of its registration. null: imported from a system that did not keep it. */
  userHandle: string | null
  /** Since when it may not be used, because its counter went back; null: it may. */
  suspendedAt: number | null
  createdAt: number
  lastUsedAt: number | null
}
