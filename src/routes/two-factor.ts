import { z } from 'zod'
import { replaceBackupCodes } from '../flows/backup-codes.js'
import { turnOffTwoFactor } from '../flows/turn-off-two-factor.js'
import { empty, json } from '../http/problem.js'
import { defineRoute } from '../http/route.js'
import { factorCodeField, passwordField } from './fields.js'
import { issuedAnswer } from './session-answer.js'
import { sessionCookies } from './session-cookies.js'

const proof = z.object({ password: passwordField.optional(), code: factorCodeField })

export const backupCodesRoute = defineRoute({
  method: 'POST',
  path: '/two-factor/backup-codes',
  limit: 'login',
  body: proof,
  page: '/account',
  summary: 'Gives new backup codes in place of the old ones.',
  async handle({ ports, session, visitor, cookies }, { password = null, code }) {
    const input = { password, code, visitor, device: cookies.device }
    return json(200, { backupCodes: await replaceBackupCodes(ports, await session(), input) })
  },
})

export const turnOffTwoFactorRoute = defineRoute({
  method: 'DELETE',
  path: '/two-factor',
  limit: 'login',
  body: proof,
  page: '/account',
  summary: 'Turns two-factor authentication off; every session ends, and a new one begins.',
  async handle(context, { password = null, code }) {
    const { ports, session, mode, visitor, cookies, form } = context
    const input = { password, code, mode, visitor, device: cookies.device }
    const issued = await turnOffTwoFactor(ports, await session(), input)
    // An app without cookies needs the new tokens, which a 204 cannot carry.
    if (form || mode === 'token') return issuedAnswer(context, 200, issued)
    return empty(204, { 'set-cookie': sessionCookies(context, issued) })
  },
})
