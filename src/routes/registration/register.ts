import { z } from 'zod'
import { emailField, nameField } from '../../contract/fields.js'
import { register } from '../../flows/registration/register.js'
import { serializeCookie } from '../../http/cookies.js'
import { withReturnTo } from '../../http/landing.js'
import { json, redirect, withHeaders } from '../../http/problem.js'
import { defineRoute } from '../../http/route.js'
import type { MailOutcome } from '../../model/mail-limit.js'
import { registeredSchema, waitingSchema } from '../answer-schemas.js'
import { passwordField } from '../fields.js'
import { sentFields } from '../sent-fields.js'
import { signedInAnswer } from '../session/answer.js'

const body = z.looseObject({
  email: emailField,
  password: passwordField.optional().describe('May be left out where `passkeys.signUp` is set.'),
  name: nameField.optional(),
})

export const registerRoute = defineRoute({
  method: 'POST',
  path: '/register',
  limit: 'mail',
  body,
  page: '/register',
  summary: 'Registers an address, and mails a link and a code to confirm it.',
  answers: { 201: registeredSchema, 202: waitingSchema('verification_sent') },
  errors: ['registration_disabled', 'email_taken', 'weak_password', 'busy', 'hook_failed'],
  async handle(context, { email, password, name, ...sent }) {
    const { ports, mode, visitor, cookies, settings, authPath } = context
    const { fields } = sentFields(context, sent)
    const applicant = { email, password: password ?? null, name: name ?? null, fields }
    const { handle, created } = await register(ports, { ...applicant, mode, visitor, device: cookies.device })
    const cookie = serializeCookie('registration', handle, ports.policy.verificationSeconds, settings, authPath)

    if (created) {
      const answer = await signedInAnswer(context, 201, created.issued, refusedMail(created.mail))
      return mode === 'token' ? answer : withHeaders(answer, { 'set-cookie': [cookie] })
    }
    const answer = { status: 'verification_sent' }
    if (mode === 'token') return json(202, { ...answer, transaction: handle })
    if (context.form)
      return redirect(303, withReturnTo(`${authPath}/verify-email`, context.returnTo), { 'set-cookie': [cookie] })
    return json(202, answer, { 'set-cookie': [cookie] })
  },
})

/** What a session is answered with where the mail limit refused the mail that confirms the address; else nothing. */
function refusedMail(mail: MailOutcome): Readonly<Record<string, unknown>> {
  return mail.mailSent ? {} : { ...mail }
}
