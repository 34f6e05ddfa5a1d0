import { defineRoute } from '../../http/route.js'
import { pageValues, providerLinks } from '../page-values.js'
import { showPage } from '../show-page.js'

export const registerPageRoute = defineRoute({
  method: 'GET',
  path: '/register',
  aliases: ['/signup'],
  limit: 'other',
  body: null,
  summary: 'Shows the page to register on, or says that registration is closed.',
  handle(context) {
    const providers = providerLinks(context)
    const { enabled } = context.settings.registration
    return showPage(context, 'register', { ...pageValues(context), enabled, providers })
  },
})
