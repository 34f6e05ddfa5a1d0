import { listIn, numberIn, textIn } from '../lib/json-fields.js'
import type { Factor } from '../model/factors/kinds.js'
import type { Passkey } from '../model/factors/passkey.js'
import type { Totp } from '../model/factors/totp.js'
import type { FactorProof } from '../model/second-factor.js'
import { readColumn } from './json-columns.js'

/** Those of the factor that is kept in the user's row. They are null together. */
interface TotpColumns {
  totp_secret: string | null
  totp_step: number | null
  totp_at: number | null
}

/** The columns of `latchkey_users` that hold second factors. */
export interface FactorColumns extends TotpColumns {
  /** A summary of the user's rows in `latchkey_passkeys`; null: none. */
  passkeys: string | null
}

export const factorColumns = [
  'totp_secret',
  'totp_step',
  'totp_at',
  'passkeys',
] as const satisfies (keyof FactorColumns)[]

/** The columns that show whether a kind is on; they hold when it was turned on. */
export const factorIndexes = ['totp_at'] as const satisfies (keyof FactorColumns)[]

/** Their values while two-factor authentication is off. Passkeys stay: they ask for no second step. */
export const noFactor = { totp_secret: null, totp_step: null, totp_at: null } as const satisfies TotpColumns

/** Without passkeys, and with no handle that a stranger's authenticator may know. */
export const noPasskeys = { passkeys: null, passkey_handle: null } as const

/** The oldest first. Some drivers return numbers as text. */
export function toFactors(row: FactorColumns): Factor[] {
  const { totp_secret, totp_step, totp_at, passkeys } = row
  const factors: Factor[] = passkeys === null ? [] : readColumn({ passkeys }, 'passkeys', passkeysIn)
  if (totp_secret !== null)
    factors.push({ kind: 'totp', sealedSecret: totp_secret, lastStep: Number(totp_step), enabledAt: Number(totp_at) })
  return factors.sort((one, other) => one.enabledAt - other.enabledAt)
}

function passkeysIn(...[fields, name]: Parameters<typeof textIn>): Factor[] {
  return listIn(fields, name, (item) => {
    const [id, rpId, enabledAt] = [textIn(item, 'id'), textIn(item, 'rpId'), numberIn(item, 'enabledAt')]
    return { kind: 'passkey', id, rpId, enabledAt }
  })
}

/** The columns of a factor that is turned on. */
export function toFactorColumns({ sealedSecret, lastStep, enabledAt }: Totp): TotpColumns {
  return { totp_secret: sealedSecret, totp_step: lastStep, totp_at: enabledAt }
}

/** The column of passkeys, the oldest first. */
export function passkeysColumn(passkeys: readonly Omit<Passkey, 'kind'>[]): string | null {
  if (passkeys.length === 0) return null
  return JSON.stringify(passkeys.map(({ id, rpId, enabledAt }) => ({ id, rpId, enabledAt })))
}

/** The columns of all of an account's factors. */
export function toAllFactorColumns(factors: readonly Factor[]): FactorColumns {
  let columns: TotpColumns = noFactor
  for (const factor of factors) if (factor.kind === 'totp') columns = toFactorColumns(factor)
  const passkeys = factors.flatMap((factor) => (factor.kind === 'passkey' ? [factor] : []))
  return { ...columns, passkeys: passkeysColumn(passkeys) }
}

/** Whether a factor is on, and the code's time step is newer than any accepted before. Of a passkey its own row decides. */
export function acceptsProof({ totp_step: last }: Pick<FactorColumns, 'totp_step'>, proof: FactorProof): boolean {
  if (proof.kind === 'passkey') return true
  if (last === null) return false
  return proof.kind === 'backup_code' || Number(last) < proof.step
}

/** What an accepted proof changes in the row: codes of its time step and of earlier ones are used up. */
export function raisedStep(proof: FactorProof): Partial<FactorColumns> {
  return proof.kind === 'totp' ? { totp_step: proof.step } : {}
}
