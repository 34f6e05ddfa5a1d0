import { pagingQuery } from '../../../contract/fields.js'
import { findSessions } from '../../../flows/control/find-sessions.js'
import { paging } from '../fields.js'
import { defineAdminPage, listed } from './admin-page.js'

export const sessionsPage = defineAdminPage({
  path: '/sessions',
  at: 'sessions',
  template: 'sessions',
  summary: 'Lists the live sessions of all users and ends them.',
  query: pagingQuery,
  async values(context) {
    const { ports, request, admin } = context
    const { items, pager } = listed(context, await findSessions(ports, paging(request)))
    return { items: items.map((session) => ({ ...session, own: session.id === admin.principal.sessionId })), pager }
  },
})
