import { teams } from '../../contract/people.js'
import { empty, json } from '../../http/problem.js'
import type { Route } from '../../http/route.js'
import { defineControlRoute } from '../../routes/admin/control-route.js'
import {
  addTeamMember,
  changeTeam,
  createTeam,
  listTeams,
  removeTeam,
  removeTeamMember,
} from '../flows/people/teams.js'
import { type FindPeople, leftTokens, whenRemoved } from './people-answers.js'

/** Teams and their members. */
export function teamRoutes(people: FindPeople): readonly Route[] {
  return [
    listRoute(people),
    createRoute(people),
    changeRoute(people),
    removeRoute(people),
    addMemberRoute(people),
    removeMemberRoute(people),
  ]
}

function listRoute(people: FindPeople): Route {
  return defineControlRoute({ ...teams.list, handle: async () => json(200, await listTeams(people())) })
}

function createRoute(people: FindPeople): Route {
  return defineControlRoute({
    ...teams.create,
    form: { page: '/project', section: 'new-team', done: 'team_created', keeps: ['name'] },
    async handle({ ports, admin }, input) {
      return json(201, await createTeam({ ...ports, ...people() }, { ...input, visitor: admin.visitor }))
    },
  })
}

function changeRoute(people: FindPeople): Route {
  return defineControlRoute({
    ...teams.change,
    form: { page: '/project', section: 'teams', done: 'team_changed' },
    async handle({ ports, params, admin }, changes) {
      const input = { id: params.id ?? '', changes, visitor: admin.visitor }
      return json(200, await changeTeam({ ...ports, ...people() }, input))
    },
  })
}

function removeRoute(people: FindPeople): Route {
  return defineControlRoute({
    ...teams.remove,
    form: { page: '/project', section: 'teams', done: 'team_removed' },
    async handle({ ports, params, admin }, { confirm }) {
      const input = { id: params.id ?? '', confirm, visitor: admin.visitor }
      await removeTeam({ ...ports, ...people() }, input)
      return empty(204)
    },
  })
}

function addMemberRoute(people: FindPeople): Route {
  return defineControlRoute({
    ...teams.addMember,
    form: { page: '/project', section: 'teams', done: 'member_added' },
    async handle({ ports, params, admin }, { email }) {
      const input = { id: params.id ?? '', email, visitor: admin.visitor }
      const { team, isNew } = await addTeamMember({ ...ports, ...people() }, input)
      return json(isNew ? 201 : 200, team)
    },
  })
}

function removeMemberRoute(people: FindPeople): Route {
  return defineControlRoute({
    ...teams.removeMember,
    form: { page: '/project', section: 'teams', ...whenRemoved('member_removed') },
    async handle({ ports, params, admin }) {
      const input = { id: params.id ?? '', userId: params.userId ?? '', visitor: admin.visitor }
      return leftTokens(await removeTeamMember({ ...ports, ...people() }, input))
    },
  })
}
