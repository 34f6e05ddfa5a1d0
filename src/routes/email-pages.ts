import { asksForUndoCode } from '../flows/undo-email.js'
import { html } from '../http/problem.js'
import { defineRoute } from '../http/route.js'
import { pageValues } from './page-values.js'

export const emailChangePageRoute = defineRoute({
  method: 'GET',
  path: '/email-change',
  limit: 'other',
  body: null,
  summary: 'Shows the page behind the link to a new address; opening it changes nothing.',
  async handle({ request, templates, authPath }) {
    await templates.prepare()
    return html(200, templates.page('email-change', { ...pageValues(request), basePath: authPath }))
  },
})

export const emailUndoPageRoute = defineRoute({
  method: 'GET',
  path: '/email-undo',
  limit: 'other',
  body: null,
  summary: 'Shows the page behind the notice to a former address; opening it changes nothing.',
  async handle({ ports, request, templates, authPath }) {
    const values = pageValues(request)
    const needsCode = values.token !== '' && (await asksForUndoCode(ports, values.token))
    await templates.prepare()
    return html(200, templates.page('email-undo', { ...values, needsCode, basePath: authPath }))
  },
})
