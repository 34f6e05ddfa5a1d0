import { projectUsers } from '../../contract/people.js'
import { json } from '../../http/problem.js'
import type { Route } from '../../http/route.js'
import { defineControlRoute } from '../../routes/admin/control-route.js'
import { changeRight, grantRight, listProjectUsers, removeProjectUser } from '../flows/people/project-users.js'
import { type FindPeople, leftTokens, whenRemoved } from './people-answers.js'

/** The users of the project and their rights. */
export function projectUserRoutes(people: FindPeople): readonly Route[] {
  return [listRoute(people), grantRoute(people), changeRoute(people), removeRoute(people)]
}

function listRoute(people: FindPeople): Route {
  return defineControlRoute({ ...projectUsers.list, handle: async () => json(200, await listProjectUsers(people())) })
}

function grantRoute(people: FindPeople): Route {
  return defineControlRoute({
    ...projectUsers.grant,
    form: { page: '/project', section: 'add', done: 'right_granted', keeps: ['email', 'right'] },
    async handle({ ports, admin }, input) {
      const { user, isNew } = await grantRight({ ...ports, ...people() }, { ...input, visitor: admin.visitor })
      return json(isNew ? 201 : 200, user)
    },
  })
}

function changeRoute(people: FindPeople): Route {
  return defineControlRoute({
    ...projectUsers.change,
    form: { page: '/project', section: 'people', done: 'right_changed' },
    async handle({ ports, params, admin }, { right }) {
      const input = { id: params.id ?? '', right, visitor: admin.visitor }
      return json(200, await changeRight({ ...ports, ...people() }, input))
    },
  })
}

function removeRoute(people: FindPeople): Route {
  return defineControlRoute({
    ...projectUsers.remove,
    form: { page: '/project', section: 'people', ...whenRemoved('right_removed') },
    async handle({ ports, params, admin }, { confirm }) {
      const input = { id: params.id ?? '', confirm, visitor: admin.visitor }
      return leftTokens(await removeProjectUser({ ...ports, ...people() }, input))
    },
  })
}
