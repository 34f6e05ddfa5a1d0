import { defineRoute } from '../../http/route.js'
import { pageValues } from '../page-values.js'
import { showPage } from '../show-page.js'

export const forgotPageRoute = defineRoute({
  method: 'GET',
  path: '/forgot',
  limit: 'other',
  body: null,
  summary: 'Shows the page that asks for a link to a new password.',
  handle: (context) => showPage(context, 'forgot', { ...pageValues(context) }),
})

export const resetPageRoute = defineRoute({
  method: 'GET',
  path: '/reset',
  limit: 'other',
  body: null,
  summary: 'Shows the page behind the mailed link; opening it changes nothing.',
  handle(context) {
    return showPage(context, 'reset', { ...pageValues(context), signInUrl: context.settings.redirectFailUrl })
  },
})
