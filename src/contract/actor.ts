import { z } from 'zod'

export const actorSchema = z
  .object({
    kind: z.enum(['user', 'adminToken', 'tool', 'application', 'system']),
    id: z.string().nullable().describe('Of the user or the admin token.'),
  })
  .nullable()

/** Who changed something, for administrators and members: no session. `id`: of the user or the admin token; null for the other kinds. */
export type ActorEntry = NonNullable<z.output<typeof actorSchema>>
