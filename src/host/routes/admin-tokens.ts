import { adminTokens } from '../../contract/admin-tokens.js'
import { empty, json } from '../../http/problem.js'
import type { Route } from '../../http/route.js'
import { defineControlRoute } from '../../routes/admin/control-route.js'
import {
  createAdminToken,
  listAdminTokens,
  removeAdminToken,
  removeAllAdminTokens,
} from '../flows/people/admin-tokens.js'
import { showAdminToken } from './pages/admin-tokens.js'
import type { FindPeople } from './people-answers.js'

/** The admin tokens of the project. Every administrator sees and removes all of them. */
export function adminTokenRoutes(people: FindPeople): readonly Route[] {
  return [listRoute(people), createRoute(people), removeAllRoute(people), removeRoute(people)]
}

function listRoute(people: FindPeople): Route {
  return defineControlRoute({ ...adminTokens.list, handle: async () => json(200, await listAdminTokens(people())) })
}

function createRoute(people: FindPeople): Route {
  return defineControlRoute({
    ...adminTokens.create,
    form: {
      page: '/admin-tokens',
      section: 'create',
      keeps: ['owner', 'name', 'expiresAt', 'cidrs', 'spaces', 'commands'],
      ownAnswer: true,
    },
    async handle(context, input) {
      const { ports, admin, asPage } = context
      const asked = { input, userId: admin.principal.userId, visitor: admin.visitor }
      const created = await createAdminToken({ ...ports, ...people() }, asked)
      return asPage ? showAdminToken(context, created) : json(201, created)
    },
  })
}

function removeAllRoute(people: FindPeople): Route {
  return defineControlRoute({
    ...adminTokens.removeAll,
    async handle({ ports, admin }, { confirm }) {
      const asked = { confirm, visitor: admin.visitor }
      return json(200, { removed: await removeAllAdminTokens({ ...ports, ...people() }, asked) })
    },
  })
}

function removeRoute(people: FindPeople): Route {
  return defineControlRoute({
    ...adminTokens.remove,
    form: { page: '/admin-tokens', section: 'tokens', done: 'token_removed' },
    async handle({ ports, params, admin }) {
      await removeAdminToken({ ...ports, ...people() }, { id: params.id ?? '', visitor: admin.visitor })
      return empty(204)
    },
  })
}
