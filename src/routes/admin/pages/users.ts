import { pagingQuery } from '../../../contract/fields.js'
import { listAccounts } from '../../../flows/control/find-accounts.js'
import { accountStates } from '../../../model/account.js'
import { paging, queryFields, queryText } from '../fields.js'
import { shownState } from './account-state.js'
import { defineAdminPage, listed } from './admin-page.js'

export const usersPage = defineAdminPage({
  path: '/users',
  at: 'users',
  template: 'users',
  summary: 'Lists and finds accounts; creates and invites.',
  query: { query: 'A part of the address or the name.', state: 'A state.', role: 'A role.', ...pagingQuery },
  async values(context) {
    const { ports, request } = context
    const state = accountStates.find((name) => name === queryText(request, 'state'))
    const filter = { ...queryFields(request, ['query', 'role']), ...(state && { state }), ...paging(request) }
    const { items, pager } = listed(context, await listAccounts(ports, filter))
    const now = ports.clock.nowMs()
    return {
      items: items.map((account) => ({ ...shown(account), ...shownState(account, now) })),
      pager,
      role: filter.role ?? '',
      states: accountStates.map((value) => ({ value, text: `admin.state.${value}`, selected: value === state })),
    }
  },
})

/** Extra fields of the application are not on this page. */
function shown({ id, email, name, roles, twoFactor, lastLoginAt, createdAt }: Parameters<typeof shownState>[0]) {
  return { id, email, name, roles, twoFactor, lastLoginAt, createdAt }
}
