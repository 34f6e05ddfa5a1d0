import { z } from 'zod'
import { AuthError } from '../../errors.js'
import { answerDevice, lookUpDevice } from '../../flows/control/device/answer.js'
import { askDevice, deviceIntervalSeconds } from '../../flows/control/device/ask.js'
import { claimDevice } from '../../flows/control/device/claim.js'
import { shownCode } from '../../flows/control/device/request.js'
import type { HttpRequest } from '../../http/message.js'
import { empty, json } from '../../http/problem.js'
import { isoTime } from '../../lib/iso-time.js'
import { sessionSchema, time } from '../answer-schemas.js'
import { issuedAnswer } from '../session/answer.js'
import { defineControlRoute, defineOpenRoute } from './control-route.js'
import { flagField, optionalText } from './fields.js'
import { showDevice } from './pages/device.js'

const userCode = z.string().min(1).max(32).describe('The code that the tool shows.')

export const askDeviceRoute = defineOpenRoute({
  method: 'POST',
  path: '/device',
  body: z.strictObject({
    challenge: z.string().max(64).describe('base64url SHA-256 of the verifier.'),
    client: z.string().max(64).describe('The host name of the machine.'),
  }),
  command: 'login',
  summary: 'Begins a sign-in of the command-line tool, which an administrator approves.',
  answers: {
    201: z.object({
      handle: z.string(),
      userCode: z.string(),
      url: z.string().describe('The page where an administrator types the code.'),
      interval: z.number().describe('Seconds between two requests for the session.'),
      expiresAt: time('When the code expires.'),
    }),
  },
  async handle({ ports, request, visitor, settings }, { challenge, client }) {
    refuseBrowser(request)
    const { handle, userCode, expiresAt } = await askDevice(ports, { challenge, client, visitor })
    const url = `${settings.origin}${settings.urlPath}${settings.admin.page}/device`
    return json(201, { handle, userCode, url, interval: deviceIntervalSeconds, expiresAt: isoTime(expiresAt) })
  },
})

export const claimDeviceRoute = defineOpenRoute({
  method: 'POST',
  path: '/device/token',
  body: z.strictObject({ handle: z.string().max(128), verifier: z.string().max(128) }),
  command: 'login',
  summary: 'Gives the tool its session once an administrator has approved it.',
  answers: { 200: sessionSchema, 202: z.object({ status: z.literal('pending') }) },
  errors: ['invalid_token'],
  async handle(context, { handle, verifier }) {
    const { ports, request, visitor } = context
    refuseBrowser(request)
    const issued = await claimDevice(ports, { handle, verifier, visitor })
    return issued ? issuedAnswer({ ...context, mode: 'token' }, 200, issued) : json(202, { status: 'pending' })
  },
})

export const lookUpDeviceRoute = defineControlRoute({
  method: 'POST',
  path: '/device/lookup',
  body: z.strictObject({ userCode }),
  form: { page: '/device', section: 'device', ownAnswer: true },
  who: 'member',
  recent: true,
  summary: 'Shows which machine asks to sign in with a code.',
  answers: {
    200: z.object({
      client: z.string(),
      ip: z.string().nullable(),
      userAgent: z.string().nullable(),
      askedAt: time('When the tool asked.'),
      sameNetwork: z.boolean().describe('Whether the tool asked from the network of this request.'),
    }),
  },
  errors: ['invalid_token'],
  async handle(context, { userCode }) {
    const { askedAt, ...asker } = await lookUpDevice(context.ports, { userCode, ...context.admin })
    const found = { ...asker, askedAt: isoTime(askedAt) }
    return context.asPage ? showDevice(context, found, shownCode(userCode)) : json(200, found)
  },
})

export const answerDeviceRoute = defineControlRoute({
  method: 'POST',
  path: '/device/answer',
  body: z.strictObject({
    userCode,
    approve: flagField,
    client: optionalText.describe('The host name, where the tool asked from another network.'),
  }),
  form: { page: '/device', section: 'device', done: 'device_answered' },
  who: 'member',
  recent: true,
  summary: 'Approves or denies the sign-in of the tool.',
  answers: { 204: null },
  errors: ['invalid_token'],
  async handle({ ports, admin }, { userCode, approve, client }) {
    await answerDevice(ports, { userCode, approve, client, ...admin })
    return empty(204)
  },
})

/** A script on a page must not begin or finish the sign-in of a tool. */
function refuseBrowser({ headers }: HttpRequest): void {
  if (headers.origin !== undefined || headers['sec-fetch-site'] !== undefined) throw new AuthError('forbidden')
}
