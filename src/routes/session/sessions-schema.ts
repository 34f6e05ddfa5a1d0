import { z } from 'zod'
import { time } from '../../contract/fields.js'

const entry = {
  id: z.string(),
  device: z.string().describe('Browser and system, from the user agent.'),
  ip: z.string().nullable().describe('The client address of the last refresh.'),
  createdAt: time('When the session began.'),
  lastSeenAt: time('When the session was last used.'),
  actor: z
    .object({ userId: z.string() })
    .nullable()
    .describe('The administrator who impersonates the user in it; else null.'),
  current: z.boolean().describe('Whether it is the session of this request.'),
}
export const sessionsSchema = z.object({
  sessions: z.array(z.object(entry)).describe('Live sessions of the signed-in user.'),
})
