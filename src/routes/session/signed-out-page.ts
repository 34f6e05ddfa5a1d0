import { defineRoute } from '../../http/route.js'
import { showPage } from '../show-page.js'

export const signedOutPageRoute = defineRoute({
  method: 'GET',
  path: '/signed-out',
  limit: 'other',
  body: null,
  summary: 'Says that one is signed out: a place that redirectLogoutUrl may name.',
  handle: (context) => showPage(context, 'signed-out', { signInUrl: context.settings.redirectFailUrl }),
})
