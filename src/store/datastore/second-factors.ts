import type { BackupCode, FactorProof } from '../../model/second-factor.js'
import { lossesWithFactor } from '../account-losses.js'
import { acceptsProof, noFactor, raisedStep, toFactorColumns } from '../factor-columns.js'
import { Refused } from '../refused.js'
import type { UsersTable } from '../rows.js'
import type { SecondFactors } from '../second-factors.js'
import { dropLosses } from './account-losses.js'
import { writeAudit } from './audit.js'
import type { Steps } from './engine/steps.js'
import { backupCodes, oneTimeTokens, users } from './engine/tables.js'
import type { Unit, View } from './engine/unit.js'
import { keepToken, requireToken } from './one-time-tokens.js'
import { writeMail } from './outbox.js'
import { spendPasskey } from './passkey-rows.js'
import { startAnew } from './user-passwords.js'
import { changeUser, requireAt } from './user-rows.js'

export function createSecondFactors(steps: Steps): SecondFactors {
  return {
    async findBackupCode(userId, codeHashes) {
      const rows = await steps.glance((view) => view.find(backupCodes, { user_id: userId }))
      return rows.find(({ code_hash }) => codeHashes.includes(code_hash))?.id ?? null
    },

    async countBackupCodes(userId) {
      const rows = await steps.glance((view) => view.find(backupCodes, { user_id: userId }))
      return rows.length
    },

    beginEnrolment: (token, now, proved) =>
      steps.step(async (unit) => {
        if (proved) {
          const row = await requireAt(unit, proved.userId, proved.version, now)
          unit.put(users, await spendProof(unit, row, proved.proof, now))
        }
        await keepToken(unit, token, { keep: 1, now })
        return true
      }, false),

    ...switchFactors(steps),

    replaceBackupCodes: ({ userId, version, proof, backupCodes: codes }, now, { audit, mail }) =>
      steps.step(async (unit) => {
        const row = await requireAt(unit, userId, version, now)
        unit.put(users, await spendProof(unit, row, proof, now))
        await setBackupCodes(unit, userId, codes)
        await writeAudit(unit, audit)
        if (mail) writeMail(unit, mail)
        return true
      }, false),
  }
}

function switchFactors(steps: Steps): Pick<SecondFactors, 'turnOn' | 'turnOff'> {
  return {
    turnOn: ({ enrolmentId, factor, backupCodes: codes, ...change }, step) =>
      steps.step(async (unit) => {
        const { userId, version, session } = change
        const row = await requireAt(unit, userId, version, session.createdAt)
        await useUp(unit, { id: enrolmentId, purpose: 'two_factor_enrolment', userId, now: session.createdAt })
        await startAnew(unit, change)
        await setBackupCodes(unit, userId, codes)
        return changeUser(unit, { ...row, ...toFactorColumns(factor) }, step)
      }, null),

    turnOff: ({ proof, ...change }, step) =>
      steps.step(async (unit) => {
        const { userId, version, session } = change
        const row = await requireAt(unit, userId, version, session.createdAt)
        const spent = await spendProof(unit, row, proof, session.createdAt)
        await startAnew(unit, change)
        await dropLosses(unit, userId, lossesWithFactor)
        return changeUser(unit, { ...spent, ...noFactor }, step)
      }, null),
  }
}

/**
 * Uses the proof up and returns the row as it is then.
 *
 * @throws {Refused} when the row does not accept it, the backup code is gone, or the passkey was used meanwhile, is suspended
 *   or gone
 */
export async function spendProof(unit: Unit, row: UsersTable, proof: FactorProof, now: number): Promise<UsersTable> {
  if (!acceptsProof(row, proof)) throw new Refused()
  if (proof.kind === 'passkey') {
    await spendPasskey(unit, row.id, proof, now)
    return row
  }
  if (proof.kind !== 'backup_code') return { ...row, ...raisedStep(proof) }
  const code = await unit.get(backupCodes, proof.id)
  if (code?.user_id !== row.id) throw new Refused()
  unit.remove(backupCodes, [code])
  return row
}

/** @throws {Refused} when the token is gone, expired, or another user's */
export async function useUp(
  unit: Unit,
  {
    id,
    purpose,
    userId,
    now,
  }: { id: string; purpose: 'two_factor' | 'two_factor_enrolment'; userId: string; now: number },
): Promise<void> {
  const token = await requireToken(unit, id, { purpose, now })
  if (token.user_id !== userId) throw new Refused()
  unit.remove(oneTimeTokens, [token])
}

/** Secrets and digests of second factors and backup codes, each `<key id>.<rest>`. */
export async function sealedFactors(view: View): Promise<(string | null)[]> {
  // No query asks for "is not null" on every adapter; one for a number greater than 0 does the same.
  const secrets = await view.find(users, { totp_at: { gt: 0 } })
  const codes = await view.find(backupCodes, {})
  return [...secrets.map((row) => row.totp_secret), ...codes.map((row) => row.code_hash)]
}

async function setBackupCodes(unit: Unit, userId: string, codes: readonly BackupCode[]): Promise<void> {
  await dropLosses(unit, userId, { backupCodes: true })
  for (const { id, codeHash } of codes) unit.put(backupCodes, { id, user_id: userId, code_hash: codeHash })
}
