import { readWholeAccount } from '../../../flows/control/read-account.js'
import { mayImpersonate } from '../../../flows/steps/acting.js'
import type { SignedIn } from '../../../http/route.js'
import { adminRole } from '../../../model/admin-role.js'
import { shownState } from './account-state.js'
import { type AdminContext, defineAdminPage } from './admin-page.js'
import { shownEvents } from './events.js'

export const userPage = defineAdminPage({
  path: '/users/:id',
  at: 'users',
  template: 'user',
  summary:
    'Shows an account with its sessions and last events; edits, disables, resets and deletes it; acts as its user.',
  async values({ ports, params, admin }) {
    const { account, identities, sessions, events } = await readWholeAccount(ports, params.id ?? '')
    const { id, email, emailVerified, name, roles, twoFactor, createdAt, lastLoginAt } = account
    return {
      ...{ id, email, emailVerified, name, roles, twoFactor, createdAt, lastLoginAt },
      ...shownState(account, ports.clock.nowMs()),
      disabledReason: account.disabledReason,
      disabledUntil: account.disabledUntil,
      // ADMIN is computed. Sent back in the form, it would be refused.
      storedRoles: roles.filter((role) => role !== adminRole).join(', '),
      identities: identities.map(({ provider }) => ({ provider })),
      sessions: sessions.map(({ id, device, ip, createdAt, lastSeenAt }) => ({
        id,
        device,
        ip,
        createdAt,
        lastSeenAt,
      })),
      events: await shownEvents(ports, events),
      userAction: `/users/${id}`,
      sessionsAction: `/users/${id}/sessions`,
      factorAction: `/users/${id}/two-factor`,
      enableAction: `/users/${id}/enable`,
      disableAction: `/users/${id}/disable`,
      resetAction: `/users/${id}/reset-password`,
      verifyAction: `/users/${id}/verification`,
      actable: await isActable(ports, admin, id),
      impersonateAction: `/users/${id}/impersonate`,
    }
  },
})

/** Whether this administrator may act as the user: without it, the page has no form for it. */
async function isActable(ports: AdminContext['ports'], { principal }: SignedIn, id: string): Promise<boolean> {
  if (ports.policy.admin.impersonation === null) return false
  const [administrator, user] = await Promise.all([principal.userId, id].map((each) => ports.users.findById(each)))
  return !!administrator && !!user && mayImpersonate(ports, administrator, user)
}
