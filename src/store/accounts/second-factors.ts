import type { BackupCode, FactorProof } from '../../model/second-factor.js'
import { acceptsProof, noFactor, raisedStep, toFactorColumns } from '../factor-columns.js'
import { consumeToken, keepToken } from '../one-time-tokens.js'
import { writeMail } from '../outbox.js'
import { Refused } from '../refused.js'
import type { UsersTable } from '../rows.js'
import type { SecondFactors } from '../second-factors.js'
import { backupCodes, users } from '../tables.js'
import type { Steps, Unit } from '../unit.js'
import { dropLosses, lossesWithFactor } from './losses.js'
import { spendPasskey } from './passkey-rows.js'
import { changeUser, requireAt, startAnew } from './steps.js'

export function createSecondFactors(steps: Steps): SecondFactors {
  return {
    findBackupCode: (userId, codeHashes) =>
      steps.glance(async (view) => {
        const [code] = await view.find(backupCodes, { user_id: userId, code_hash: { in: codeHashes } }, { limit: 1 })
        return code?.id ?? null
      }),

    countBackupCodes: (userId) =>
      steps.glance(async (view) => (await view.find(backupCodes, { user_id: userId })).length),

    beginEnrolment: (token, now, proved) =>
      steps.transaction(async (unit) => {
        if (proved) {
          const row = await requireAt(unit, proved.userId, proved.version, now)
          await unit.put(users, await spendProof(unit, row, proved.proof, now))
        }
        await keepToken(unit, token, { keep: 1, now })
        return true
      }, false),

    ...switchFactors(steps),

    replaceBackupCodes: ({ userId, version, proof, backupCodes: codes }, now, { audit, mail }) =>
      steps.transaction(async (unit) => {
        const row = await requireAt(unit, userId, version, now)
        await unit.put(users, await spendProof(unit, row, proof, now))
        await setBackupCodes(unit, userId, codes)
        unit.audit(audit)
        if (mail) await writeMail(unit, mail)
        return true
      }, false),
  }
}

function switchFactors(steps: Steps): Pick<SecondFactors, 'turnOn' | 'turnOff'> {
  return {
    turnOn: ({ enrolmentId, factor, backupCodes: codes, ...change }, step) =>
      steps.transaction(async (unit) => {
        const { userId, version, session } = change
        const row = await requireAt(unit, userId, version, session.createdAt)
        await consumeToken(unit, enrolmentId, { purpose: 'two_factor_enrolment', userId, now: session.createdAt })
        await startAnew(unit, change)
        await setBackupCodes(unit, userId, codes)
        return changeUser(unit, { ...row, ...toFactorColumns(factor) }, step)
      }, null),

    turnOff: ({ proof, ...change }, step) =>
      steps.transaction(async (unit) => {
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
  const code = await unit.get(backupCodes, { id: proof.id })
  if (code?.user_id !== row.id) throw new Refused()
  await unit.remove(backupCodes, [code])
  return row
}

async function setBackupCodes(unit: Unit, userId: string, codes: readonly BackupCode[]): Promise<void> {
  await dropLosses(unit, userId, { backupCodes: true })
  await unit.put(backupCodes, ...codes.map(({ id, codeHash }) => ({ id, user_id: userId, code_hash: codeHash })))
}
