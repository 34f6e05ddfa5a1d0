import { coarseNetwork } from '../../lib/ip-address.js'
import { isoTime } from '../../lib/iso-time.js'
import { hasFactor, twoFactorSince } from '../../model/factors/kinds.js'
import type { SessionPrincipal } from '../../model/principal.js'
import { type SessionEntry, toSessionEntry } from '../../model/session.js'
import { toUser, type User } from '../../model/user.js'
import { mayRemove, signsInAt } from '../../model/ways-in.js'
import type { Ports } from '../../ports.js'
import type { SessionState } from '../../store/sessions.js'
import { listSessions } from '../session/sessions.js'
import { currentRpId, hasPasskeyHere } from '../steps/usable-factors.js'
import { readProfile } from './profile.js'
import { isRecent } from './require-password.js'

/** What decides how a signed-in user proves their identity again. */
export interface Standing {
  user: User
  hasPassword: boolean
  /** The sign-in is recent enough to replace a password. */
  isRecent: boolean
  /** ISO 8601 in UTC; null: off. */
  twoFactorSince: string | null
  /** Whether a passkey can prove it, instead of a password. */
  hasPasskey: boolean
}

/** What the account page shows. */
export interface Account extends Standing {
  /** This session first, then the newest. The IP address is shown as its network. */
  sessions: readonly (Pick<SessionEntry, 'id' | 'device' | 'lastSeenAt'> & {
    network: string | null
    current: boolean
  })[]
  /** The linked providers, under the names that users know. The last way to sign in is not `removable`. */
  linked: readonly { name: string; title: string; linkedAt: string; removable: boolean }[]
  /** How many backup codes are not used up; null: two-factor authentication is off. */
  backupCodesLeft: number | null
  /** The providers that the user could link. */
  linkable: readonly { name: string; title: string }[]
}

type StandingPorts = Pick<Ports, 'sessions' | 'clock' | 'policy'>

/** @throws {AuthError} `token_revoked` when the session ended meanwhile */
export async function readStanding(ports: StandingPorts, principal: SessionPrincipal): Promise<Standing> {
  return toStanding(ports, await readProfile(ports, principal))
}

function toStanding(ports: Pick<Ports, 'clock' | 'policy'>, { user, session }: SessionState): Standing {
  const since = twoFactorSince(user)
  return {
    user: toUser(user, ports.policy.adminEmails),
    hasPassword: user.passwordHash !== null,
    isRecent: isRecent(ports, session),
    twoFactorSince: since === null ? null : isoTime(since),
    hasPasskey: hasPasskeyHere(ports, user),
  }
}

/** @throws {AuthError} `token_revoked` when the session ended meanwhile */
export async function readAccount(
  ports: StandingPorts & Pick<Ports, 'providers' | 'secondFactors'>,
  principal: SessionPrincipal,
): Promise<Account> {
  const state = await readProfile(ports, principal)
  const choices = ports.providers.list().map(({ name, label }) => ({ name, title: label }))
  const standing = toStanding(ports, state)
  const { identities } = standing.user
  return {
    ...standing,
    sessions: await ownSessions(ports, principal),
    backupCodesLeft: hasFactor(state.user) ? await ports.secondFactors.countBackupCodes(state.user.id) : null,
    linked: identities.map(({ provider, linkedAt }) => {
      const title = choices.find(({ name }) => name === provider)?.title ?? provider
      const removable = mayRemove(state.user, { kind: 'identity', provider }, signsInAt(currentRpId(ports)))
      return { name: provider, title, linkedAt, removable }
    }),
    linkable: choices.filter(({ name }) => !identities.some(({ provider }) => provider === name)),
  }
}

async function ownSessions(
  ports: StandingPorts,
  { userId, sessionId }: SessionPrincipal,
): Promise<Account['sessions']> {
  const entries = (await listSessions(ports, userId)).map(toSessionEntry).map(({ id, device, ip, lastSeenAt }) => {
    return { id, device, network: coarseNetwork(ip), lastSeenAt, current: id === sessionId }
  })
  return [...entries.filter(({ current }) => current), ...entries.filter(({ current }) => !current)]
}
