import { users } from '../../contract/users.js'
import { updateAccount } from '../../flows/control/administer-accounts.js'
import { listAccounts } from '../../flows/control/find-accounts.js'
import { addAccount } from '../../flows/control/invite-account.js'
import { readWholeAccount } from '../../flows/control/read-account.js'
import { removeConfirmedAccount } from '../../flows/control/remove-account.js'
import type { HttpRequest } from '../../http/message.js'
import { empty, json } from '../../http/problem.js'
import { type AccountFilter, accountStates } from '../../model/account.js'
import { defineControlRoute } from './control-route.js'
import { paging, queryChoice, queryFields } from './fields.js'

export const listUsersRoute = defineControlRoute({
  ...users.list,
  async handle({ ports, request }) {
    return json(
      200,
      await listAccounts(ports, {
        ...queryFields(request, ['query', 'role']),
        ...stateOf(request),
        ...paging(request),
      }),
    )
  },
})

export const createUserRoute = defineControlRoute({
  ...users.create,
  form: { page: '/users', section: 'create', done: 'user_created' },
  async handle({ ports, admin }, { invite = true, ...account }) {
    return json(201, await addAccount(ports, { invite, account, visitor: admin.visitor }))
  },
})

export const readUserRoute = defineControlRoute({
  ...users.read,
  handle: async ({ ports, params }) => json(200, await readWholeAccount(ports, params.id ?? '')),
})

export const updateUserRoute = defineControlRoute({
  ...users.update,
  form: { page: '/users/:id', section: 'profile', done: 'user_updated' },
  needsRecent: ({ roles }) => roles !== undefined,
  async handle({ ports, params, admin }, { name, roles }) {
    const changes = { ...(name !== undefined && { name }), ...(roles !== undefined && { roles }) }
    return json(200, await updateAccount(ports, { id: params.id ?? '', changes, visitor: admin.visitor }))
  },
})

export const deleteUserRoute = defineControlRoute({
  ...users.remove,
  form: { page: '/users/:id', section: 'delete', done: 'user_deleted', donePage: { page: '/users', section: 'users' } },
  async handle({ ports, params, admin }, { confirm }) {
    await removeConfirmedAccount(ports, { id: params.id ?? '', confirm, visitor: admin.visitor })
    return empty(204)
  },
})

function stateOf(request: Pick<HttpRequest, 'query'>): Pick<AccountFilter, 'state'> {
  const state = queryChoice(request, 'state', accountStates)
  return state === undefined ? {} : { state }
}
