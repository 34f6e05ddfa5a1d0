import { adminRole } from './admin-role.js'

/** What the control API lets a user do: ADMIN everything, MEMBER the views that show no secret and no data. */
export type Right = 'ADMIN' | 'MEMBER'

/** An application has no members: the role ADMIN gives the right ADMIN. */
export function rightByRole({ roles }: { roles: readonly string[] }): Right | null {
  return roles.includes(adminRole) ? 'ADMIN' : null
}
