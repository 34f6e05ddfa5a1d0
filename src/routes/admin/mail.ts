import { mail, states } from '../../contract/mail.js'
import { dropMail, readMailQueue, retryMail } from '../../flows/control/read-mail-queue.js'
import { empty, json } from '../../http/problem.js'
import { defineControlRoute } from './control-route.js'
import { paging, queryChoice } from './fields.js'

export const listMailRoute = defineControlRoute({
  ...mail.list,
  async handle({ ports, request }) {
    const state = queryChoice(request, 'state', states)
    return json(200, await readMailQueue(ports, { ...paging(request), ...(state !== undefined && { state }) }))
  },
})

export const retryMailRoute = defineControlRoute({
  ...mail.retry,
  form: { page: '/mail', section: 'mail', done: 'mail_retried' },
  async handle({ ports, params, admin }) {
    await retryMail(ports, { id: params.id ?? '', visitor: admin.visitor })
    return empty(204)
  },
})

export const dropMailRoute = defineControlRoute({
  ...mail.drop,
  form: { page: '/mail', section: 'mail', done: 'mail_dropped' },
  async handle({ ports, params, admin }) {
    await dropMail(ports, { id: params.id ?? '', visitor: admin.visitor })
    return empty(204)
  },
})
