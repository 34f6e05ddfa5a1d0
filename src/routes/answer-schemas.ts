import { z } from 'zod'

const time = z.iso.datetime().describe('In UTC.')

/** The tokens that travel in cookies, unless the client has none. */
const tokens = {
  accessToken: z.string().optional().describe('In token mode, when there is a new one.'),
  accessTokenExpiresAt: time.optional(),
  refreshToken: z.string().optional().describe('In token mode, when there is one to keep from now on.'),
}

const transaction = z.string().optional().describe('In token mode: to be sent back with the code.')

export const userSchema = z
  .looseObject({
    id: z.string(),
    email: z.string().describe('As typed.'),
    emailVerified: z.boolean(),
    name: z.string().nullable(),
    roles: z.array(z.string()),
    twoFactor: z.boolean(),
    createdAt: time,
    lastLoginAt: time.nullable(),
    identities: z.array(z.object({ provider: z.string(), linkedAt: time })),
  })
  .describe('An account, with the extra fields of the application beside these.')

const session = {
  user: userSchema,
  session: z.object({ id: z.string(), expiresAt: time.describe('When it ends unless it is refreshed, in UTC.') }),
  ...tokens,
}

const halfway = z.literal('two_factor_required')
export const twoFactorSchema = z
  .object({ status: halfway, challenge: z.string(), methods: z.array(z.string()) })
  .describe('A sign-in that has come half of its way: the second step is asked for.')

/** What a status says of a success that has nothing else to tell. */
export function statusSchema<Status extends string>(status: Status) {
  return z.object({ status: z.literal(status) })
}

export const sessionSchema = z.object(session).describe('Who is signed in. A browser gets its tokens in cookies.')
export const signInSchema = z.union([sessionSchema, twoFactorSchema])
export const backupCodesSchema = z.object({ backupCodes: z.array(z.string()).describe('Shown once.') })
export const twoFactorOnSchema = z.object({ ...backupCodesSchema.shape, ...session })
export const waitingSchema = <Status extends string>(status: Status) =>
  z.object({ ...statusSchema(status).shape, transaction })
export const emailChangedSchema = z.object({ ...statusSchema('email_changed').shape, ...tokens })
export const urlSchema = z.object({ url: z.string().describe('Where the browser goes next.') })
export const documentSchema = z.looseObject({ openapi: z.string() })

const entry = { id: z.string(), device: z.string(), ip: z.string().nullable(), createdAt: time, lastSeenAt: time }
export const sessionsSchema = z.object({ sessions: z.array(z.object({ ...entry, current: z.boolean() })) })

const fault = z.object({ path: z.string(), message: z.string() })
export const problemSchema = z
  .object({
    type: z.string(),
    title: z.string(),
    status: z.int(),
    code: z.string().describe('The contract: the sentence in detail may change.'),
    detail: z.string(),
    requestId: z.string(),
    errors: z.array(fault).optional().describe('Of invalid_request: which fields are wrong.'),
    reasons: z.array(z.string()).optional().describe('Of weak_password: why.'),
  })
  .describe('An error by RFC 9457.')
