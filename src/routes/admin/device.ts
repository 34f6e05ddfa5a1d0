import { z } from 'zod'
import { device } from '../../contract/device.js'
import { AuthError } from '../../errors.js'
import { answerDevice, lookUpDevice } from '../../flows/control/device/answer.js'
import { askDevice, deviceIntervalSeconds } from '../../flows/control/device/ask.js'
import { claimDevice } from '../../flows/control/device/claim.js'
import { shownCode } from '../../flows/control/device/request.js'
import type { HttpRequest } from '../../http/message.js'
import { empty, json } from '../../http/problem.js'
import { isoTime } from '../../lib/iso-time.js'
import { sessionSchema } from '../answer-schemas.js'
import { issuedAnswer } from '../session/answer.js'
import { defineControlRoute, defineOpenRoute } from './control-route.js'
import { showDevice } from './pages/device.js'

export const askDeviceRoute = defineOpenRoute({
  ...device.ask,
  async handle({ ports, request, visitor, settings }, { challenge, client }) {
    refuseBrowser(request)
    const { handle, userCode, expiresAt } = await askDevice(ports, { challenge, client, visitor })
    const url = `${settings.origin}${settings.urlPath}${settings.admin.page}/device`
    return json(201, { handle, userCode, url, interval: deviceIntervalSeconds, expiresAt: isoTime(expiresAt) })
  },
})

export const claimDeviceRoute = defineOpenRoute({
  ...device.claim,
  answers: { 200: sessionSchema, 202: z.object({ status: z.literal('pending') }) },
  async handle(context, { handle, verifier }) {
    const { ports, request, visitor } = context
    refuseBrowser(request)
    const issued = await claimDevice(ports, { handle, verifier, visitor })
    return issued ? issuedAnswer({ ...context, mode: 'token' }, 200, issued) : json(202, { status: 'pending' })
  },
})

export const lookUpDeviceRoute = defineControlRoute({
  ...device.lookUp,
  form: { page: '/device', section: 'device', ownAnswer: true },
  async handle(context, { userCode }) {
    const { askedAt, ...asker } = await lookUpDevice(context.ports, { userCode, ...context.admin })
    const found = { ...asker, askedAt: isoTime(askedAt) }
    return context.asPage ? showDevice(context, found, shownCode(userCode)) : json(200, found)
  },
})

export const answerDeviceRoute = defineControlRoute({
  ...device.answer,
  form: { page: '/device', section: 'device', done: 'device_answered' },
  async handle({ ports, admin }, { userCode, approve, client }) {
    await answerDevice(ports, { userCode, approve, client, ...admin })
    return empty(204)
  },
})

/** A script on a page must not begin or finish the sign-in of a tool. */
function refuseBrowser({ headers }: HttpRequest): void {
  if (headers.origin !== undefined || headers['sec-fetch-site'] !== undefined) throw new AuthError('forbidden')
}
