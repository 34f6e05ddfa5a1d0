import { defineRoute } from '../http/route.js'
import { pageValues } from './page-values.js'
import { showPage } from './show-page.js'

export const errorPageRoute = defineRoute({
  method: 'GET',
  path: '/error',
  limit: 'other',
  body: null,
  summary: 'Shows the sentence of an error, where a form fails that has no page of its own.',
  handle(context) {
    const given = new URLSearchParams(context.request.query).get('request') ?? ''
    // Only an id in our own format: any other text would appear to come from us.
    const requestId = /^[\w-]{12}-[0-9a-z]{1,11}$/.test(given) ? given : ''
    const startUrl = context.settings.redirectSuccessUrl
    return showPage(context, 'error', { ...pageValues(context), requestId, startUrl })
  },
})
