import type { Route } from '../../http/route.js'
import { adminTokenRoutes } from './admin-tokens.js'
import type { FindPeople } from './people-answers.js'
import { teamRoutes } from './teams.js'
import { projectUserRoutes } from './users.js'

/** The routes over users, teams and admin tokens of the project. */
export function peopleRoutes(people: FindPeople): readonly Route[] {
  return [...projectUserRoutes(people), ...teamRoutes(people), ...adminTokenRoutes(people)]
}
