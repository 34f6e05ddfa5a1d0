import { asksForUndoCode } from '../flows/undo-email.js'
import { html } from '../http/problem.js'
import { defineRoute } from '../http/route.js'

export const emailChangePageRoute = defineRoute({
  method: 'GET',
  path: '/email-change',
  limit: 'other',
  body: null,
  summary: 'Shows the page behind the link to a new address; opening it changes nothing.',
  async handle({ request, templates, authPath }) {
    const query = new URLSearchParams(request.query)
    const values = { token: query.get('token') ?? '', done: query.has('done'), error: query.get('error') ?? '' }
    await templates.prepare()
    return html(200, templates.page('email-change', { ...values, basePath: authPath }))
  },
})

export const emailUndoPageRoute = defineRoute({
  method: 'GET',
  path: '/email-undo',
  limit: 'other',
  body: null,
  summary: 'Shows the page behind the notice to a former address; opening it changes nothing.',
  async handle({ ports, request, templates, authPath }) {
    const query = new URLSearchParams(request.query)
    const token = query.get('token') ?? ''
    const values = { token, done: query.has('done'), error: query.get('error') ?? '' }
    const needsCode = token !== '' && (await asksForUndoCode(ports, token))
    await templates.prepare()
    return html(200, templates.page('email-undo', { ...values, needsCode, basePath: authPath }))
  },
})
