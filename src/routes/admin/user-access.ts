import { users } from '../../contract/users.js'
import { disableAccount, enableAccount } from '../../flows/control/administer-accounts.js'
import { demandReset } from '../../flows/control/demand-reset.js'
import { mailVerification } from '../../flows/control/mail-verification.js'
import { removeFactor } from '../../flows/two-factor/turn-off.js'
import { empty, json } from '../../http/problem.js'
import { defineControlRoute } from './control-route.js'

export const disableUserRoute = defineControlRoute({
  ...users.disable,
  form: { page: '/users/:id', section: 'state', done: 'user_disabled' },
  async handle({ ports, params, admin }, { reason, until }) {
    const options = { reason, ...(until !== undefined && { until }) }
    return json(200, await disableAccount(ports, { id: params.id ?? '', options, visitor: admin.visitor }))
  },
})

export const enableUserRoute = defineControlRoute({
  ...users.enable,
  form: { page: '/users/:id', section: 'state', done: 'user_enabled' },
  async handle({ ports, params, admin }) {
    return json(200, await enableAccount(ports, { id: params.id ?? '', visitor: admin.visitor }))
  },
})

export const demandResetRoute = defineControlRoute({
  ...users.resetPassword,
  form: { page: '/users/:id', section: 'state', done: 'reset_sent' },
  async handle({ ports, params, admin }) {
    await demandReset(ports, { id: params.id ?? '', visitor: admin.visitor })
    return json(202, { status: 'reset_sent' })
  },
})

export const mailVerificationRoute = defineControlRoute({
  ...users.mailVerification,
  form: {
    page: '/users/:id',
    section: 'state',
    done: ({ status }) => (status === 202 ? 'verification_sent' : 'already_verified'),
  },
  async handle({ ports, params, admin }) {
    const sent = await mailVerification(ports, { id: params.id ?? '', visitor: admin.visitor })
    return sent ? json(202, { status: 'verification_sent' }) : json(200, { status: 'already_verified' })
  },
})

export const removeFactorRoute = defineControlRoute({
  ...users.removeTwoFactor,
  form: { page: '/users/:id', section: 'state', done: 'two_factor_removed' },
  async handle({ ports, params, admin }) {
    await removeFactor(ports, { id: params.id ?? '', visitor: admin.visitor })
    return empty(204)
  },
})
