import type { Identity } from '../../model/identity.js'
import type { UserRecord } from '../../model/user.js'
import { mayRemove, signsInAt } from '../../model/ways-in.js'
import type { Identities, Linking, ProvedClaim, Unlinking } from '../identities.js'
import { dropRegistrations, dropTokens } from '../one-time-tokens.js'
import { writeMail } from '../outbox.js'
import { Refused, Taken, unlessTaken } from '../refused.js'
import type { UsersTable } from '../rows.js'
import { identities, users } from '../tables.js'
import type { Steps, Unit } from '../unit.js'
import { isEnabled, toUser, toUserRow } from '../user-rows.js'
import type { AccountStep } from '../users.js'
import { dropIdentities, linkedProviders, withIdentity, writeIdentity } from './identity-rows.js'
import { dropLosses, everyHold } from './losses.js'
import { changeUser, claimAddress, requireSession, requireUser, wipeUnproven } from './steps.js'

/** All of it but `find`, which a request waits for: one statement in SQL. */
export function createIdentities(steps: Steps): Omit<Identities, 'find'> {
  return {
    create: (user, identity, audit) =>
      steps.transaction(async (unit) => {
        const now = Math.floor(audit.atMs / 1000)
        await claimAddress(unit, toUserRow(withIdentity(user, identity)), now)
        await writeIdentity(unit, identity)
        await dropRegistrations(unit, user.emailCanonical)
        unit.audit(audit)
        return true
      }, false),

    link: (linking, step) => unlessTaken(() => steps.transaction((unit) => linkTo(unit, linking, step))),

    linkByProof: (identity, claim, step) =>
      unlessTaken(() => steps.transaction((unit) => linkByProof(unit, identity, claim, step))),

    unlink: (unlinking, step) =>
      steps.transaction<UserRecord | 'last' | null>((unit) => unlink(unit, unlinking, step), null),
  }
}

async function linkTo(unit: Unit, { identity, by }: Linking, step: AccountStep): Promise<UserRecord> {
  const { userId: id, linkedAt: now } = identity
  const row = await requireUser(unit, id)
  if (!isEnabled(row, now)) throw new Refused()
  if ('email' in by && (row.email_canonical !== by.email || row.email_verified !== 1)) throw new Refused()
  if ('sessionId' in by) await requireSession(unit, { userId: id, sessionId: by.sessionId, now })

  const former = await unit.get(identities, identity)
  if (former && former.user_id !== id) throw new Taken()
  if (former) return toUser(row)
  await writeIdentity(unit, identity)
  return recordLinks(unit, row, step)
}

async function linkByProof(
  unit: Unit,
  identity: Identity,
  { email, verifiedBy }: ProvedClaim,
  step: AccountStep,
): Promise<UserRecord> {
  const { userId: id, linkedAt: now } = identity
  const row = await requireUser(unit, id)
  if (row.email_canonical !== email || !isEnabled(row, now)) throw new Refused()
  const proved = await wipeUnproven(unit, row)
  if (!proved) throw new Refused()
  await writeIdentity(unit, identity)
  await dropLosses(unit, id, everyHold)
  const linked = await linkedProviders(unit, id)
  return changeUser(unit, { ...proved, verified_by: verifiedBy, identities: linked }, step)
}

async function unlink(
  unit: Unit,
  { userId, provider, fromSessionId: sessionId, rpId }: Unlinking,
  step: AccountStep,
): Promise<UserRecord | 'last'> {
  const row = await requireUser(unit, userId)
  await requireSession(unit, { userId, sessionId, now: Math.floor(step.audit.atMs / 1000) })
  const user = toUser(row)
  if (!user.identities.some((identity) => identity.provider === provider)) throw new Refused()
  if (!mayRemove(user, { kind: 'identity', provider }, signsInAt(rpId))) return 'last'
  await dropIdentities(unit, { user_id: userId, provider })
  await dropTokens(unit, userId, ['two_factor'])
  return recordLinks(unit, row, step)
}

/** The change revokes no token, so no other process needs a change row. */
async function recordLinks(unit: Unit, row: UsersTable, { audit, mail }: AccountStep): Promise<UserRecord> {
  const changed = { ...row, identities: await linkedProviders(unit, row.id) }
  await unit.put(users, changed)
  unit.audit(audit)
  if (mail) await writeMail(unit, mail)
  return toUser(changed)
}
