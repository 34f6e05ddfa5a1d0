import type { Route } from '../../../http/route.js'
import { queryText } from '../../../routes/admin/fields.js'
import { defineAdminPage } from '../../../routes/admin/pages/admin-page.js'
import { listProjectUsers } from '../../flows/people/project-users.js'
import { listTeams } from '../../flows/people/teams.js'
import type { FindPeople } from '../people-answers.js'

export function projectPage(people: FindPeople): Route {
  return defineAdminPage({
    home: 'host',
    path: '/project',
    at: 'project',
    template: 'project',
    summary: 'Lists the users and teams of the project with their rights; adds, changes and removes them.',
    async values({ request }) {
      const [users, teams] = await Promise.all([listProjectUsers(people()), listTeams(people())])
      return {
        users: users.map(({ id, email, name, right, teams, inForce }) => ({
          id,
          email,
          name,
          right,
          isMember: right !== 'ADMIN',
          inForce,
          teams: teams.map((team) => team.name).join(', '),
          action: `/project/users/${id}`,
        })),
        teams: teams.map(({ id, name, right, members }) => ({
          id,
          name,
          right,
          isMember: right !== 'ADMIN',
          members: members.map((member) => ({ ...member, action: `/teams/${id}/members/${member.id}` })),
          action: `/teams/${id}`,
          addAction: `/teams/${id}/members`,
        })),
        kept: {
          email: queryText(request, 'email') ?? '',
          isAdmin: queryText(request, 'right') === 'ADMIN',
          name: queryText(request, 'name') ?? '',
        },
      }
    },
  })
}
