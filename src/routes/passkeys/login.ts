import { z } from 'zod'
import { passkeyChallengeSeconds } from '../../flows/passkeys/challenge.js'
import { passkeyLogin, startPasskeyLogin } from '../../flows/passkeys/login.js'
import { clearCookie, serializeCookie } from '../../http/cookies.js'
import { json, withHeaders } from '../../http/problem.js'
import { defineRoute, type RouteContext } from '../../http/route.js'
import { isoTime } from '../../lib/iso-time.js'
import { sessionSchema } from '../answer-schemas.js'
import { transactionField } from '../fields.js'
import { signedInAnswer } from '../session/answer.js'
import { loginOptionsSchema } from './answer-schemas.js'
import { signedResponse } from './response-schema.js'

export const startPasskeyLoginRoute = defineRoute({
  method: 'POST',
  path: '/passkeys/login/options',
  limit: 'other',
  body: z.object({}),
  summary: 'Returns the options of a sign-in by passkey. They are the same for every visitor.',
  answers: { 200: loginOptionsSchema },
  errors: ['passkeys_disabled'],
  cookies: ['passkey'],
  async handle(context) {
    const { ports, mode, settings, authPath } = context
    const handle = browserHandle(context)
    const { options, expiresAt } = await startPasskeyLogin(ports, handle)
    const answer = { options, expiresAt: isoTime(expiresAt), ...(mode === 'token' && { transaction: handle }) }
    if (mode === 'token') return json(200, answer)
    const cookie = serializeCookie('passkey', handle, passkeyChallengeSeconds, settings, authPath)
    return json(200, answer, { 'set-cookie': [cookie] })
  },
})

export const passkeyLoginRoute = defineRoute({
  method: 'POST',
  path: '/passkeys/login',
  limit: 'login',
  body: z.object({ response: signedResponse, transaction: transactionField.optional() }),
  page: '/login',
  summary: 'Signs in with a passkey, in the browser that asked for the options.',
  answers: { 200: sessionSchema },
  errors: [
    'invalid_token',
    'invalid_passkey',
    'account_disabled',
    'email_not_verified',
    'passkeys_disabled',
    'hook_failed',
  ],
  cookies: ['passkey'],
  async handle(context, { response, transaction }) {
    const { ports, mode, visitor, cookies, settings, authPath } = context
    const handle = mode === 'token' ? (transaction ?? null) : cookies.passkey
    const issued = await passkeyLogin(ports, { response, handle, mode, visitor, device: cookies.device })
    const answer = await signedInAnswer(context, 200, issued)
    if (mode === 'token') return answer
    return withHeaders(answer, { 'set-cookie': [clearCookie('passkey', settings, authPath)] })
  },
})

/** Tabs of one browser share a handle, so that one does not void the challenge of another. */
function browserHandle({ ports, cookies }: RouteContext): string {
  return cookies.passkey !== null && /^[\w-]{43}$/.test(cookies.passkey) ? cookies.passkey : ports.random.token()
}
