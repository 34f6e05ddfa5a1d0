import type { Factor } from '../model/factors/kinds.js'

/** The columns of `latchkey_users` that hold second factors. Those of one kind are null together. */
export interface FactorColumns {
  totp_secret: string | null
  totp_step: number | null
  totp_at: number | null
}

export const factorColumns = ['totp_secret', 'totp_step', 'totp_at'] as const satisfies (keyof FactorColumns)[]

/** Those that tell whether a kind is on, by when it was turned on. */
export const factorIndexes = ['totp_at'] as const satisfies (keyof FactorColumns)[]

/** What they hold without a second factor. */
export const noFactor = { totp_secret: null, totp_step: null, totp_at: null } as const satisfies FactorColumns

/** A driver may hand numbers over as text. */
export function toFactors({ totp_secret, totp_step, totp_at }: FactorColumns): Factor[] {
  if (totp_secret === null) return []
  return [{ kind: 'totp', sealedSecret: totp_secret, lastStep: Number(totp_step), enabledAt: Number(totp_at) }]
}

/** The columns of that one factor; those of other kinds are left out. */
export function toFactorColumns({ sealedSecret, lastStep, enabledAt }: Factor): Partial<FactorColumns> {
  return { totp_secret: sealedSecret, totp_step: lastStep, totp_at: enabledAt }
}

/** The columns of all of an account's factors. */
export function toAllFactorColumns(factors: readonly Factor[]): FactorColumns {
  let columns: FactorColumns = noFactor
  for (const factor of factors) columns = { ...columns, ...toFactorColumns(factor) }
  return columns
}
