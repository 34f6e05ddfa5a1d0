import { z } from 'zod'

/** Reports whether a mail was sent. Only after the right password. */
export const mailOutcomeSchema = z.object({
  mailSent: z.boolean().describe('Whether a mail was sent; false where the mail limit refused it.'),
  retryAfter: z.int().optional().describe('Without a mail: seconds until one may be sent.'),
})
