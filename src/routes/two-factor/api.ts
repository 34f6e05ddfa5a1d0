import { z } from 'zod'
import { replaceBackupCodes } from '../../flows/two-factor/backup-codes.js'
import { turnOffTwoFactor } from '../../flows/two-factor/turn-off.js'
import { empty, json } from '../../http/problem.js'
import { defineRoute } from '../../http/route.js'
import { accountDone } from '../account-form.js'
import { backupCodesSchema, sessionSchema } from '../answer-schemas.js'
import { factorCodeField, passwordField } from '../fields.js'
import { issuedAnswer } from '../session/answer.js'
import { sessionCookies } from '../session/cookies.js'
import { showBackupCodes } from './backup-codes-page.js'

const proof = z.object({ password: passwordField.optional(), code: factorCodeField })

export const backupCodesRoute = defineRoute({
  method: 'POST',
  path: '/two-factor/backup-codes',
  limit: 'login',
  body: proof,
  page: '/account',
  section: 'two-factor',
  signedIn: true,
  summary: 'Replaces the backup codes with new ones.',
  answers: { 200: backupCodesSchema },
  errors: ['invalid_credentials', 'recent_login_required', 'invalid_code', 'not_found', 'busy'],
  async handle(context, { password = null, code }) {
    const { ports, session, cookies, form } = context
    const { principal, visitor } = await session()
    const input = { password, code, visitor, device: cookies.device }
    const backupCodes = await replaceBackupCodes(ports, principal, input)
    return form ? showBackupCodes(context, backupCodes) : json(200, { backupCodes })
  },
})

export const turnOffTwoFactorRoute = defineRoute({
  method: 'DELETE',
  path: '/two-factor',
  limit: 'login',
  body: proof,
  page: '/account',
  section: 'two-factor',
  signedIn: true,
  summary: 'Turns off two-factor authentication. Every session ends, and a new one begins.',
  answers: { 200: sessionSchema, 204: null },
  errors: ['invalid_credentials', 'recent_login_required', 'invalid_code', 'not_found', 'busy'],
  async handle(context, { password = null, code }) {
    const { ports, session, mode, cookies, form } = context
    const { principal, visitor } = await session()
    const input = { password, code, mode, visitor, device: cookies.device }
    const issued = await turnOffTwoFactor(ports, principal, input)
    // An app without cookies needs the new tokens, which a 204 cannot carry.
    if (mode === 'token') return issuedAnswer(context, 200, issued)
    const kept = { 'set-cookie': sessionCookies(context, issued) }
    return form ? accountDone(context, 'two-factor', 'two_factor_disabled', kept) : empty(204, kept)
  },
})
