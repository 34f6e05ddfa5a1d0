import { z } from 'zod'
import { statusSchema } from '../../contract/fields.js'
import { confirmEmail } from '../../flows/email/confirm.js'
import { undoEmail } from '../../flows/email/undo.js'
import { json, redirect } from '../../http/problem.js'
import { defineRoute } from '../../http/route.js'
import { emailChangedSchema } from '../answer-schemas.js'
import { factorCodeField, tokenField } from '../fields.js'
import { tokensOf } from '../session/answer.js'
import { sessionCookies } from '../session/cookies.js'
import { optionalSession } from '../session/optional.js'

export const confirmEmailRoute = defineRoute({
  method: 'POST',
  path: '/email/confirm',
  limit: 'guess',
  body: z.object({ token: tokenField }),
  page: '/email-change',
  keepsOnError: ['token'],
  summary: 'Changes the address with the mailed link, with or without a session.',
  answers: { 200: emailChangedSchema },
  errors: ['invalid_token', 'email_taken', 'would_lock_out'],
  cookies: ['access'],
  async handle(context, { token }) {
    const { ports, mode, form, authPath, visitor } = context
    const { principal: caller } = await optionalSession(context)
    const issued = await confirmEmail(ports, { token, caller, mode, visitor })

    const answer = { status: 'email_changed' }
    if (mode === 'token') return json(200, { ...answer, ...(issued && tokensOf(issued)) })
    const headers = issued ? { 'set-cookie': sessionCookies(context, issued) } : {}
    return form ? redirect(303, `${authPath}/email-change?done=1`, headers) : json(200, answer, headers)
  },
})

export const undoEmailRoute = defineRoute({
  method: 'POST',
  path: '/email/undo',
  limit: 'guess',
  body: z.object({ token: tokenField, code: factorCodeField.optional() }),
  page: '/email-undo',
  keepsOnError: ['token'],
  summary: 'Restores the former address with the link in its notice, and ends every session.',
  answers: { 200: statusSchema('email_restored') },
  errors: ['invalid_token', 'invalid_code'],
  async handle({ ports, visitor, form, authPath }, { token, code }) {
    await undoEmail(ports, { token, code: code ?? null, visitor })
    return form ? redirect(303, `${authPath}/email-undo?done=1`) : json(200, { status: 'email_restored' })
  },
})
