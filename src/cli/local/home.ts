import { type AuthError, invalidField } from '../../errors.js'
import { accountStates } from '../../model/account.js'
import { type AuditEventName, auditEventNames } from '../../model/audit-event.js'
import type { OpenToolApplication } from '../../wiring/for-tool.js'
import type { AuditQuery, LocalHome } from '../home.js'
import { version } from '../version.js'

/** The application in its opened database. Each member is one flow. */
export function createLocalHome(
  { calls, close }: Pick<OpenToolApplication, 'calls' | 'close'>,
  { target, url, adminEmails }: Pick<LocalHome, 'target' | 'adminEmails'> & { url: string },
): LocalHome {
  return {
    ...calls,
    mode: 'local',
    target,
    adminEmails,
    close,
    describe: async () => ({ home: 'application', version: version(), url, user: null }),
    space: async () => null,
    readSpace: async () => null,
    readAccess: async () => ({ ...(await calls.readAccess()), you: null, keySet: null }),
    allowNetwork: ({ network }) => calls.allowNetwork(network),
    disallowNetwork: ({ network }) => calls.disallowNetwork(network),
    async listUsers({ state, ...filter }) {
      const known = accountStates.find((name) => name === state)
      if (state !== undefined && known === undefined) throw unknown('state')
      return calls.listUsers({ ...filter, ...(known && { state: known }) })
    },
    async readUser(id) {
      const { account, sessions, events } = await calls.readUser(id)
      return { account, sessions: sessions.map((session) => ({ ...session, email: null })), events }
    },
    createUser: ({ email, name, roles, invite = true }) => calls.createUser({ email, name, roles, invite }),
    async listAudit({ event, ...filter }) {
      return calls.listAudit({ ...filter, ...eventOf(event) })
    },
    exportAudit: ({ event, ...filter }) => calls.exportAudit({ ...filter, ...eventOf(event) }),
  }
}

function eventOf(event: AuditQuery['event']): { event?: AuditEventName } {
  if (event === undefined) return {}
  const known = auditEventNames.find((name) => name === event)
  if (known === undefined) throw unknown('event')
  return { event: known }
}

function unknown(path: string): AuthError {
  return invalidField(path, 'is not known')
}
