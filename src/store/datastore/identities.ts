import type { UserRecord } from '../../model/user.js'
import { mayRemove, signsInAt } from '../../model/ways-in.js'
import { everyHold } from '../account-losses.js'
import type { Identities, Linking } from '../identities.js'
import { withIdentity } from '../identity-rows.js'
import { Refused, Taken, unlessTaken } from '../refused.js'
import type { UsersTable } from '../rows.js'
import { isLive } from '../session-rows.js'
import { toUser, toUserRow } from '../user-rows.js'
import type { AccountStep } from '../users.js'
import { dropLosses } from './account-losses.js'
import { writeAudit } from './audit.js'
import type { Steps } from './engine/steps.js'
import { identities, identityKey, sessions, users } from './engine/tables.js'
import type { Unit } from './engine/unit.js'
import { wipeUnproven } from './first-proof.js'
import { dropIdentities, linkedProviders, writeIdentity } from './identity-rows.js'
import { dropRegistrations, dropTokens } from './one-time-tokens.js'
import { writeMail } from './outbox.js'
import { requireFree } from './taken-addresses.js'
import { changeUser, isEnabled, requireUser } from './user-rows.js'

export function createIdentities(steps: Steps): Identities {
  return { ...findIdentities(steps), ...linkIdentities(steps), ...unlinkIdentities(steps) }
}

function findIdentities(steps: Steps): Pick<Identities, 'find' | 'create'> {
  return {
    find: (provider, subject) =>
      steps.read(async (view) => {
        const identity = await view.get(identities, identityKey({ provider, subject }))
        const row = identity && (await view.get(users, identity.user_id))
        return row && toUser(row)
      }),

    create: (user, identity, audit) =>
      steps.step(async (unit) => {
        const now = Math.floor(audit.atMs / 1000)
        await requireFree(unit, user.emailCanonical, { now, userId: user.id })
        unit.put(users, toUserRow(withIdentity(user, identity)))
        await writeIdentity(unit, identity)
        await dropRegistrations(unit, user.emailCanonical)
        await writeAudit(unit, audit)
        return true
      }, false),
  }
}

function linkIdentities(steps: Steps): Pick<Identities, 'link' | 'linkByProof'> {
  return {
    link: (linking, step) => unlessTaken(() => steps.step((unit) => linkTo(unit, linking, step))),

    linkByProof: (identity, { email, verifiedBy }, step) =>
      unlessTaken(() =>
        steps.step(async (unit) => {
          const { userId: id, linkedAt: now } = identity
          const row = await requireUser(unit, id)
          if (row.email_canonical !== email || !isEnabled(row, now)) throw new Refused()
          const wiped = await wipeUnproven(unit, row)
          if (!wiped) throw new Refused()
          const proved = { ...wiped, verified_by: verifiedBy }
          await writeIdentity(unit, identity)
          await dropLosses(unit, id, everyHold)
          return changeUser(unit, { ...proved, identities: await linkedProviders(unit, id) }, step)
        }),
      ),
  }
}

async function linkTo(unit: Unit, { identity, by }: Linking, step: AccountStep): Promise<UserRecord> {
  const { userId: id, linkedAt: now } = identity
  const row = await requireUser(unit, id)
  if (!isEnabled(row, now)) throw new Refused()
  if ('email' in by && (row.email_canonical !== by.email || row.email_verified !== 1)) throw new Refused()
  if ('sessionId' in by) await requireSession(unit, { userId: id, sessionId: by.sessionId, now })

  const former = await unit.get(identities, identityKey(identity))
  if (former && former.user_id !== id) throw new Taken()
  if (former) return toUser(row)
  await writeIdentity(unit, identity)
  return recordLinkEvent(unit, row, step)
}

function unlinkIdentities(steps: Steps): Pick<Identities, 'unlink'> {
  return {
    unlink: ({ userId, provider, fromSessionId: sessionId, rpId }, step) =>
      steps.step<UserRecord | 'last' | null>(async (unit) => {
        const row = await requireUser(unit, userId)
        await requireSession(unit, { userId, sessionId, now: Math.floor(step.audit.atMs / 1000) })
        const user = toUser(row)
        if (!user.identities.some((identity) => identity.provider === provider)) throw new Refused()
        if (!mayRemove(user, { kind: 'identity', provider }, signsInAt(rpId))) return 'last'
        await dropIdentities(unit, userId, (identity) => identity.provider === provider)
        await dropTokens(unit, userId, ['two_factor'])
        return recordLinkEvent(unit, row, step)
      }, null),
  }
}

/** @throws {Refused} when it has ended */
export async function requireSession(
  unit: Unit,
  { userId, sessionId, now }: { userId: string; sessionId: string; now: number },
): Promise<void> {
  const session = await unit.get(sessions, sessionId)
  if (session?.user_id !== userId || !isLive(session, now)) throw new Refused()
}

/** No token dies by it, so no process has to hear of it. */
async function recordLinkEvent(unit: Unit, row: UsersTable, { audit, mail }: AccountStep): Promise<UserRecord> {
  const changed = { ...row, identities: await linkedProviders(unit, row.id) }
  unit.put(users, changed)
  await writeAudit(unit, audit)
  if (mail) writeMail(unit, mail)
  return toUser(changed)
}
