import type { BackupCode } from '../../model/second-factor.js'
import type { SecondFactors } from '../second-factors.js'
import { writeAudit } from './audit.js'
import type { Steps } from './engine/steps.js'
import { backupCodes, oneTimeTokens, users } from './engine/tables.js'
import { Refused, type Unit } from './engine/unit.js'
import { dropTokens, keepToken, requireToken } from './one-time-tokens.js'
import { writeMail } from './outbox.js'
import { startAnew } from './user-passwords.js'
import { changeUser, dropBackupCodes, noFactor, requireAt, spendProof } from './user-rows.js'

export function createSecondFactors(steps: Steps): SecondFactors {
  return {
    async findBackupCode(userId, codeHashes) {
      const rows = await steps.glance((view) => view.find(backupCodes, { user_id: userId }))
      return rows.find(({ code_hash }) => codeHashes.includes(code_hash))?.id ?? null
    },

    beginEnrolment: (token, now, proved) =>
      steps.step(async (unit) => {
        if (proved) {
          const row = await requireAt(unit, proved.userId, proved.version, now)
          unit.put(users, await spendProof(unit, row, proved.proof))
        }
        await keepToken(unit, token, { keep: 1, now })
        return true
      }, false),

    ...switchFactors(steps),

    replaceBackupCodes: ({ userId, version, proof, backupCodes: codes }, now, { audit, mail }) =>
      steps.step(async (unit) => {
        const row = await requireAt(unit, userId, version, now)
        unit.put(users, await spendProof(unit, row, proof))
        await setBackupCodes(unit, userId, codes)
        await writeAudit(unit, audit)
        if (mail) writeMail(unit, mail)
        return true
      }, false),
  }
}

function switchFactors(steps: Steps): Pick<SecondFactors, 'turnOn' | 'turnOff'> {
  return {
    turnOn: ({ enrolmentId, totp, backupCodes: codes, ...change }, step) =>
      steps.step(async (unit) => {
        const { userId, version, session } = change
        const row = await requireAt(unit, userId, version, session.createdAt)
        await useUp(unit, { id: enrolmentId, purpose: 'two_factor_enrolment', userId, now: session.createdAt })
        await startAnew(unit, change)
        await setBackupCodes(unit, userId, codes)
        const { sealedSecret, lastStep, enabledAt } = totp
        const factor = { totp_secret: sealedSecret, totp_step: lastStep, totp_at: enabledAt }
        return changeUser(unit, { ...row, ...factor }, step)
      }, null),

    turnOff: ({ proof, ...change }, step) =>
      steps.step(async (unit) => {
        const { userId, version, session } = change
        const row = await requireAt(unit, userId, version, session.createdAt)
        const spent = await spendProof(unit, row, proof)
        await startAnew(unit, change)
        await dropFactor(unit, userId)
        return changeUser(unit, { ...spent, ...noFactor }, step)
      }, null),
  }
}

/** What goes with a factor that is taken out of the user's row. */
export async function dropFactor(unit: Unit, userId: string): Promise<void> {
  await dropBackupCodes(unit, userId)
  await dropTokens(unit, userId, 'two_factor_enrolment')
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

async function setBackupCodes(unit: Unit, userId: string, codes: readonly BackupCode[]): Promise<void> {
  await dropBackupCodes(unit, userId)
  for (const { id, codeHash } of codes) unit.put(backupCodes, { id, user_id: userId, code_hash: codeHash })
}
