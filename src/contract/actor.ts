import { z } from 'zod'

export const actorSchema = z
  .object({
    kind: z.enum(['user', 'adminToken', 'tool', 'application', 'system']),
    id: z.string().nullable().describe('Of the user or the admin token.'),
  })
  .nullable()
