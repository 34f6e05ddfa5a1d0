import { z } from 'zod'

/** The session of an answer. */
export const ownSession = z
  .object({
    id: z.string(),
    expiresAt: z.iso.datetime().describe('When the session ends unless it is refreshed. In UTC.'),
    actor: z
      .object({ userId: z.string(), name: z.string().nullable() })
      .nullable()
      .describe('The administrator who impersonates the user; else null.'),
  })
  .describe('The session of this client.')
