import type { ExpressionBuilder, Kysely } from 'kysely'
import type { BackupCode, FactorProof, SecondStep } from '../../model/second-factor.js'
import { lossesWithFactor } from '../account-losses.js'
import { noFactor, raisedStep, toFactorColumns } from '../factor-columns.js'
import type { SecondFactors } from '../second-factors.js'
import type { EmailUndo } from '../users.js'
import { dropLosses } from './account-losses.js'
import { writeAudit } from './audit.js'
import type { Flavour } from './engine/flavour.js'
import type { Tables } from './engine/schema.js'
import type { Steps, Unit } from './engine/steps.js'
import { keepToken } from './one-time-tokens.js'
import { writeMail } from './outbox.js'
import { spendPasskey } from './passkey-rows.js'
import { recordUserChange, requireDeleted, requireOne, startAnew } from './user-passwords.js'
import { isEnabled } from './user-rows.js'

/** Each step writes the user's row first, as everywhere, so that a concurrent sign-in waits for it. */
export function createSecondFactors(steps: Steps): SecondFactors {
  return {
    async findBackupCode(userId, codeHashes) {
      if (codeHashes.length === 0) return null
      const row = await steps.step((db) =>
        db
          .selectFrom('latchkey_backup_codes')
          .select('id')
          .where('user_id', '=', userId)
          .where('code_hash', 'in', codeHashes)
          .executeTakeFirst(),
      )
      return row?.id ?? null
    },

    async countBackupCodes(userId) {
      const rows = await steps.step((db) =>
        db.selectFrom('latchkey_backup_codes').select('id').where('user_id', '=', userId).execute(),
      )
      return rows.length
    },

    beginEnrolment: (token, now, proved) =>
      steps.transaction(async (unit) => {
        if (proved) await spend(unit, proved, now)
        await keepToken(unit, token, { keep: 1, now })
        return true
      }, false),

    ...switchFactors(steps),

    replaceBackupCodes: (change, now, { audit, mail }) =>
      steps.transaction(async (unit) => {
        await spend(unit, change, now)
        await setBackupCodes(unit, change.userId, change.backupCodes)
        await writeAudit(unit, audit)
        if (mail) await writeMail(unit, mail)
        return true
      }, false),
  }
}

function switchFactors(steps: Steps): Pick<SecondFactors, 'turnOn' | 'turnOff'> {
  return {
    turnOn: ({ enrolmentId, factor, backupCodes, ...change }, step) =>
      steps.transaction(async (unit) => {
        const { userId, version, session } = change
        await unit.db
          .updateTable('latchkey_users')
          .set({ ...toFactorColumns(factor), version: version + 1 })
          .where('id', '=', userId)
          .where('version', '=', version)
          .where(isEnabled(session.createdAt))
          .executeTakeFirst()
          .then(requireOne)
        await consume(unit, { id: enrolmentId, purpose: 'two_factor_enrolment', userId }, session.createdAt)
        await startAnew(unit, change)
        await setBackupCodes(unit, userId, backupCodes)
        return recordUserChange(unit, userId, step)
      }, null),

    turnOff: ({ proof, ...change }, step) =>
      steps.transaction(async (unit) => {
        const { userId, version, session } = change
        await unit.db
          .updateTable('latchkey_users')
          .set({ ...noFactor, version: version + 1 })
          .where('id', '=', userId)
          .where('version', '=', version)
          .where(isEnabled(session.createdAt))
          .where(accepts(proof))
          .executeTakeFirst()
          .then(requireOne)
        await spendRow(unit, userId, proof, session.createdAt)
        await startAnew(unit, change)
        await dropLosses(unit, userId, lossesWithFactor)
        return recordUserChange(unit, userId, step)
      }, null),
  }
}

/**
 * A condition on the user's row for the deciding write: a factor is on, and the code's step is newer than any before. Of a
 * passkey its own row decides.
 */
export function accepts(proof: FactorProof) {
  return (eb: ExpressionBuilder<Tables, 'latchkey_users'>) =>
    proof.kind === 'totp'
      ? eb('totp_step', '<', proof.step)
      : proof.kind === 'passkey'
        ? eb.lit(true)
        : eb('totp_step', 'is not', null)
}

/**
 * A condition for the undo of a change of address: the factor that was on at the change is proved, or is off by now. A factor
 * that was turned on later may belong to the person who made the change, so it is not asked for.
 */
export function acceptsUndo({ factorSince, proof }: Pick<EmailUndo, 'factorSince' | 'proof'>) {
  return (eb: ExpressionBuilder<Tables, 'latchkey_users'>) => {
    if (proof) return eb.and([eb('totp_at', '=', factorSince), accepts(proof)(eb)])
    if (factorSince === null) return eb.lit(true)
    return eb.or([eb('totp_at', 'is', null), eb('totp_at', '<>', factorSince)])
  }
}

/** Uses up the first step of a sign-in. @throws {Refused} when it is gone or expired */
export async function useUpChallenge(
  unit: Unit,
  userId: string,
  { challengeId }: SecondStep,
  now: number,
): Promise<void> {
  await consume(unit, { id: challengeId, purpose: 'two_factor', userId }, now)
}

/** @throws {Refused} when the proof is used up, or the user is disabled or at another version */
export async function spend(
  unit: Unit,
  { userId, version, proof }: { userId: string; version: number; proof: FactorProof },
  now: number,
): Promise<void> {
  await unit.db
    .updateTable('latchkey_users')
    .set({ version, ...raisedStep(proof) })
    .where('id', '=', userId)
    .where('version', '=', version)
    .where(isEnabled(now))
    .where(accepts(proof))
    .executeTakeFirst()
    .then(requireOne)
  await spendRow(unit, userId, proof, now)
}

/**
 * Uses up a proof that has a row of its own. The counter of a passkey must still be the one that was seen.
 *
 * @throws {Refused} when the proof is a used backup code, or a passkey that was used meanwhile, is suspended or gone
 */
export async function spendRow(unit: Unit, userId: string, proof: FactorProof, now: number): Promise<void> {
  if (proof.kind === 'passkey') return spendPasskey(unit, userId, proof, now)
  if (proof.kind !== 'backup_code') return
  await unit.db
    .deleteFrom('latchkey_backup_codes')
    .where('id', '=', proof.id)
    .where('user_id', '=', userId)
    .executeTakeFirst()
    .then(requireDeleted)
}

async function consume(
  unit: Unit,
  { id, purpose, userId }: { id: string; purpose: 'two_factor' | 'two_factor_enrolment'; userId: string },
  now: number,
): Promise<void> {
  await unit.db
    .deleteFrom('latchkey_one_time_tokens')
    .where('id', '=', id)
    .where('purpose', '=', purpose)
    .where('user_id', '=', userId)
    .where('expires_at', '>', now)
    .executeTakeFirst()
    .then(requireDeleted)
}

/** Ids of the encryption keys that made the stored second factors and backup codes. */
export async function factorKeys(db: Kysely<Tables>, flavour: Flavour): Promise<(string | null)[]> {
  const ofSecrets = await db
    .selectFrom('latchkey_users')
    .select(flavour.beforeDot('totp_secret').as('key_id'))
    .distinct()
    .where('totp_secret', 'is not', null)
    .execute()
  const ofBackupCodes = await db
    .selectFrom('latchkey_backup_codes')
    .select(flavour.beforeDot('code_hash').as('key_id'))
    .distinct()
    .execute()
  return [...ofSecrets, ...ofBackupCodes].map(({ key_id }) => key_id)
}

async function setBackupCodes(unit: Unit, userId: string, codes: readonly BackupCode[]): Promise<void> {
  await dropLosses(unit, userId, { backupCodes: true })
  await unit.db
    .insertInto('latchkey_backup_codes')
    .values(codes.map(({ id, codeHash }) => ({ id, user_id: userId, code_hash: codeHash })))
    .execute()
}
