import { z } from 'zod'
import { statusSchema, time } from '../contract/fields.js'
import { userSchema } from '../contract/users.js'
import { mailOutcomeSchema } from './mail-outcome-schema.js'
import { ownSession } from './own-session-schema.js'

/** The tokens of a client without cookies. Other clients get them in cookies. */
const tokens = {
  accessToken: z.string().optional().describe('In token mode, when there is a new one.'),
  accessTokenExpiresAt: time('When the access token expires.').optional(),
  refreshToken: z.string().optional().describe('In token mode, when there is a new one: replace the former one by it.'),
}

const transaction = z.string().optional().describe('In token mode: send it back with the code.')

const session = {
  user: userSchema,
  session: ownSession,
  ...tokens,
}

const halfway = z.literal('two_factor_required')
export const twoFactorSchema = z
  .object({
    status: halfway,
    challenge: z.string().describe('Send it with the code of the second step.'),
    methods: z.array(z.string()).describe('Second factors that the account has.'),
  })
  .describe('The first step succeeded. The account has two-factor authentication on, so a second step must follow.')

export const sessionSchema = z
  .object(session)
  .describe('The signed-in user and the session. A browser gets its tokens in cookies.')
export const registeredSchema = z
  .object({ ...session, ...mailOutcomeSchema.partial().shape })
  .describe('The new session. It has `mailSent` only where the mail limit refused the mail that confirms the address.')
export const signInSchema = z.union([sessionSchema, twoFactorSchema])
export const backupCodesSchema = z.object({
  backupCodes: z
    .array(z.string())
    .describe('Ten codes, each of which works once. Later requests do not show them again.'),
})
export const twoFactorOnSchema = z.object({ ...backupCodesSchema.shape, ...session })
export const waitingSchema = <Status extends string>(status: Status) =>
  z.object({ ...statusSchema(status).shape, transaction })
export const emailChangedSchema = z.object({ ...statusSchema('email_changed').shape, ...tokens })
export const urlSchema = z.object({ url: z.string().describe('The address to send the browser to.') })
export const documentSchema = z.looseObject({ openapi: z.string().describe('The version of OpenAPI.') })
