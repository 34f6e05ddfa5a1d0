import { z } from 'zod'
import { confirmTotp } from '../flows/confirm-totp.js'
import { enrolTotp } from '../flows/enrol-totp.js'
import { json } from '../http/problem.js'
import { defineRoute } from '../http/route.js'
import { factorCodeField, passwordField } from './fields.js'
import { issuedAnswer } from './session-answer.js'

export const enrolTotpRoute = defineRoute({
  method: 'POST',
  path: '/two-factor/totp',
  limit: 'login',
  body: z.object({ password: passwordField.optional(), code: factorCodeField.optional() }),
  page: '/account',
  summary: 'Gives the secret for an authenticator app; nothing changes until a code of it is confirmed.',
  async handle({ ports, session, visitor, cookies }, { password = null, code = null }) {
    return json(200, await enrolTotp(ports, await session(), { password, code, visitor, device: cookies.device }))
  },
})

export const confirmTotpRoute = defineRoute({
  method: 'POST',
  path: '/two-factor/totp/confirm',
  limit: 'guess',
  body: z.object({ code: factorCodeField }),
  page: '/account',
  summary: 'Turns two-factor authentication on by the first code; every session ends, and a new one begins.',
  async handle(context, { code }) {
    const { ports, session, mode, visitor } = context
    const { issued, backupCodes } = await confirmTotp(ports, await session(), { code, mode, visitor })
    return issuedAnswer(context, 200, issued, { backupCodes })
  },
})
