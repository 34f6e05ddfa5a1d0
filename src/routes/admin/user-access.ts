import { z } from 'zod'
import { disableAccount, enableAccount } from '../../flows/control/administer-accounts.js'
import { demandReset } from '../../flows/control/demand-reset.js'
import { mailVerification } from '../../flows/control/mail-verification.js'
import { removeFactor } from '../../flows/two-factor/remove.js'
import { empty, json } from '../../http/problem.js'
import { statusSchema } from '../answer-schemas.js'
import { defineControlRoute } from './control-route.js'
import { optionalText } from './fields.js'
import { accountSchema } from './users.js'

export const disableUserRoute = defineControlRoute({
  method: 'POST',
  path: '/users/:id/disable',
  body: z.strictObject({
    reason: z.string().min(1).max(200).describe('Why, in one line.'),
    until: optionalText.describe('ISO 8601. Default: until enabled.'),
  }),
  form: { page: '/users/:id', section: 'state', done: 'user_disabled' },
  who: 'admin',
  recent: true,
  command: 'users disable',
  summary: 'Disables an account: its sessions, tokens and links end.',
  answers: { 200: accountSchema },
  errors: ['not_found', 'would_lock_out'],
  async handle({ ports, params, admin }, { reason, until }) {
    const options = { reason, ...(until !== undefined && { until }) }
    return json(200, await disableAccount(ports, { id: params.id ?? '', options, visitor: admin.visitor }))
  },
})

export const enableUserRoute = defineControlRoute({
  method: 'POST',
  path: '/users/:id/enable',
  body: null,
  form: { page: '/users/:id', section: 'state', done: 'user_enabled' },
  who: 'admin',
  recent: true,
  command: 'users enable',
  summary: 'Enables a disabled account.',
  answers: { 200: accountSchema },
  errors: ['not_found'],
  async handle({ ports, params, admin }) {
    return json(200, await enableAccount(ports, { id: params.id ?? '', visitor: admin.visitor }))
  },
})

export const demandResetRoute = defineControlRoute({
  method: 'POST',
  path: '/users/:id/reset-password',
  body: null,
  form: { page: '/users/:id', section: 'state', done: 'reset_sent' },
  who: 'admin',
  recent: true,
  command: 'users reset-password',
  summary: 'Ends every session of a user and demands a new password by a mailed link.',
  answers: { 202: statusSchema('reset_sent') },
  errors: ['not_found', 'would_lock_out'],
  async handle({ ports, params, admin }) {
    await demandReset(ports, { id: params.id ?? '', visitor: admin.visitor })
    return json(202, { status: 'reset_sent' })
  },
})

export const mailVerificationRoute = defineControlRoute({
  method: 'POST',
  path: '/users/:id/verification',
  body: null,
  form: {
    page: '/users/:id',
    section: 'state',
    done: ({ status }) => (status === 202 ? 'verification_sent' : 'already_verified'),
  },
  who: 'admin',
  recent: true,
  summary: 'Mails the confirmation of an address again; to a user without a password, the invitation.',
  answers: { 200: statusSchema('already_verified'), 202: statusSchema('verification_sent') },
  errors: ['not_found'],
  async handle({ ports, params, admin }) {
    const sent = await mailVerification(ports, { id: params.id ?? '', visitor: admin.visitor })
    return sent ? json(202, { status: 'verification_sent' }) : json(200, { status: 'already_verified' })
  },
})

export const removeFactorRoute = defineControlRoute({
  method: 'DELETE',
  path: '/users/:id/two-factor',
  body: null,
  form: { page: '/users/:id', section: 'state', done: 'two_factor_removed' },
  who: 'admin',
  recent: true,
  command: 'users remove-two-factor',
  summary: 'Removes the second factor of a user who has lost it. Ends every session and mails a notice.',
  answers: { 204: null },
  errors: ['not_found'],
  async handle({ ports, params, admin }) {
    await removeFactor(ports, { id: params.id ?? '', visitor: admin.visitor })
    return empty(204)
  },
})
