/** A kind of password hash: its scheme and parameters, and how long one computation is estimated to take. */
export interface HashKind {
  name: string
  milliseconds: number
}

/** Why a hash that was made elsewhere cannot be taken over. */
export type HashFault = 'hash_unsupported' | 'hash_too_costly' | 'hash_pepper_unknown' | 'hash_package_missing'
