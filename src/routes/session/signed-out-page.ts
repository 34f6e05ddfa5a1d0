import { queryOf } from '../../http/query.js'
import { defineRoute } from '../../http/route.js'
import { showPage } from '../show-page.js'

export const signedOutPageRoute = defineRoute({
  method: 'GET',
  path: '/signed-out',
  limit: 'other',
  body: null,
  summary: 'Says that the user has signed out. redirectLogoutUrl may point here.',
  handle(context) {
    const { redirectFailUrl, redirectLogoutUrl } = context.settings
    const deleted = queryOf(context.request).get('deleted')
    const urls = { signInUrl: redirectFailUrl, startUrl: redirectLogoutUrl }
    return showPage(context, 'signed-out', { deleted: deleted !== null, deletedLater: deleted === 'later', ...urls })
  },
})
