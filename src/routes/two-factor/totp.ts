import { z } from 'zod'
import { confirmTotp, type Enrolment, enrolTotp } from '../../flows/two-factor/enrol-totp.js'
import type { HttpResponse } from '../../http/message.js'
import { json, withHeaders } from '../../http/problem.js'
import { defineRoute, type RouteContext } from '../../http/route.js'
import { twoFactorOnSchema } from '../answer-schemas.js'
import { factorCodeField, passwordField } from '../fields.js'
import { issuedAnswer } from '../session/answer.js'
import { sessionCookies } from '../session/cookies.js'
import { showBackupCodes } from './backup-codes-page.js'
import { showSetup } from './show-setup.js'

const enrolmentSchema = z.object({
  secret: z.string().describe('To type into the authenticator app, base32.'),
  uri: z.string().describe('The same as an otpauth: URI.'),
  qrCode: z.string().describe('The URI as a QR code, a data URI.'),
})

export const enrolTotpRoute = defineRoute({
  method: 'POST',
  path: '/two-factor/totp',
  limit: 'login',
  body: z.object({ password: passwordField.optional(), code: factorCodeField.optional() }),
  page: '/two-factor/setup',
  signedIn: true,
  summary: 'Returns a secret for an authenticator app. Nothing changes until a code confirms it.',
  answers: { 200: enrolmentSchema },
  errors: ['invalid_credentials', 'recent_login_required', 'invalid_code', 'busy'],
  async handle(context, { password = null, code = null }) {
    const { ports, session, cookies, form } = context
    const { principal, visitor } = await session()
    const input = { password, code, visitor, device: cookies.device }
    const enrolment = await enrolTotp(ports, principal, input)
    return form ? showEnrolment(context, enrolment) : json(200, enrolment)
  },
})

export const confirmTotpRoute = defineRoute({
  method: 'POST',
  path: '/two-factor/totp/confirm',
  limit: 'guess',
  body: z.object({ code: factorCodeField }),
  page: '/two-factor/setup',
  signedIn: true,
  summary: 'Turns on two-factor authentication with the first code. Every session ends, and a new one begins.',
  answers: { 200: twoFactorOnSchema },
  errors: ['invalid_token', 'invalid_code', 'busy'],
  async handle(context, { code }) {
    const { ports, session, mode, form } = context
    const { principal, visitor } = await session()
    const { issued, backupCodes } = await confirmTotp(ports, principal, { code, mode, visitor })
    if (!form) return issuedAnswer(context, 200, issued, { backupCodes })
    return withHeaders(await showBackupCodes(context, backupCodes), { 'set-cookie': sessionCookies(context, issued) })
  },
})

/** Shows the secret once, in the response to the form itself: a redirect must not carry it (ASVS 5.0, 14.2.1). */
function showEnrolment(context: RouteContext, { secret, uri, qrCode }: Enrolment): Promise<HttpResponse> {
  const readable = secret.match(/.{1,4}/g)?.join(' ') ?? secret
  const step = { start: false, scan: true, confirm: true }
  return showSetup(context, context.returnTo ?? '', { step, secret: readable, uri, qrCode })
}
