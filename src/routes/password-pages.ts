import { html } from '../http/problem.js'
import { defineRoute } from '../http/route.js'
import { pageValues } from './page-values.js'

export const forgotPageRoute = defineRoute({
  method: 'GET',
  path: '/forgot',
  limit: 'other',
  body: null,
  summary: 'Shows the page that asks for a link to a new password.',
  async handle({ request, templates, authPath }) {
    const query = new URLSearchParams(request.query)
    const values = { done: query.has('done'), error: query.get('error') ?? '' }
    await templates.prepare()
    return html(200, templates.page('forgot', { ...values, basePath: authPath }))
  },
})

export const resetPageRoute = defineRoute({
  method: 'GET',
  path: '/reset',
  limit: 'other',
  body: null,
  summary: 'Shows the page behind the mailed link; opening it changes nothing.',
  async handle({ request, templates, authPath, settings }) {
    const values = pageValues(request)
    const { minLength } = settings.password
    const signInUrl = settings.redirectFailUrl
    await templates.prepare()
    return html(200, templates.page('reset', { ...values, minLength, signInUrl, basePath: authPath }))
  },
})
