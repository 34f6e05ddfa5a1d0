import { queryOf } from '../http/query.js'
import { defineRoute } from '../http/route.js'
import { pageValues } from './page-values.js'
import { showPage } from './show-page.js'

export const errorPageRoute = defineRoute({
  method: 'GET',
  path: '/error',
  limit: 'other',
  body: null,
  summary: 'Shows the message of an error, for forms without a page of their own.',
  handle(context) {
    const given = queryOf(context.request).get('request') ?? ''
    // Only ids in our own format. Any other text in the URL could be a message of an attacker.
    const requestId = /^[\w-]{12}-[0-9a-z]{1,11}$/.test(given) ? given : ''
    const startUrl = context.settings.redirectSuccessUrl
    const values = pageValues(context)
    const notFound = values.error === 'not_found'
    // A missing page is harmless, so there is no alert and no "Error" in the title.
    return showPage(context, 'error', { ...values, error: notFound ? '' : values.error, notFound, requestId, startUrl })
  },
})
