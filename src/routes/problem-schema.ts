import { z } from 'zod'
import { mailOutcomeSchema } from './mail-outcome-schema.js'

const fault = z.object({ path: z.string(), message: z.string() })
export const problemSchema = z
  .object({
    type: z.string().describe('The code as a URN.'),
    title: z.string().describe('The code in words.'),
    status: z.int().describe('The HTTP status.'),
    code: z.string().describe('Stable: decide by it. The texts may change.'),
    detail: z.string().describe('A sentence for people.'),
    requestId: z.string().describe('The id of this request in the log.'),
    errors: z.array(fault).optional().describe('With invalid_request: the fields that are wrong.'),
    reasons: z.array(z.string()).optional().describe('With weak_password: why it is refused.'),
    unknown: z
      .literal(true)
      .optional()
      .describe('With invalid_passkey: no account has that passkey, so the browser may forget it.'),
    reauthenticate: z
      .string()
      .optional()
      .describe('With recent_login_required of a guarded route: the path that makes the sign-in recent again.'),
    mailSent: mailOutcomeSchema.shape.mailSent
      .optional()
      .describe('With email_not_verified: whether a new mail was sent.'),
    retryAfter: mailOutcomeSchema.shape.retryAfter,
  })
  .describe('An error by RFC 9457.')
