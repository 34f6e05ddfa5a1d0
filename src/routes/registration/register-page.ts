import { defineRoute } from '../../http/route.js'
import { fieldInputs } from '../field-inputs.js'
import { errorAt, pageValues } from '../page-values.js'
import { newPasskeyUrl } from '../passkeys/page.js'
import { providerLinks } from '../provider-links.js'
import { showPage } from '../show-page.js'

export const registerPageRoute = defineRoute({
  method: 'GET',
  path: '/register',
  aliases: ['/signup'],
  limit: 'other',
  body: null,
  summary: 'Shows the registration page, or says that registration is closed.',
  handle(context) {
    const values = pageValues(context)
    const providers = providerLinks(context)
    const { enabled } = context.settings.registration
    const at = errorAt(values.error, ['password'])
    const inputs = fieldInputs(context, null, values.wrong)
    const { passkeys } = context.settings
    const passkeyUrl = passkeys.enabled && passkeys.signUp ? newPasskeyUrl(context.authPath, values.redirect) : ''
    const ways = { providers, passkeys: passkeyUrl !== '', passkeyUrl }
    return showPage(context, 'register', { ...values, ...inputs, at, enabled, ...ways })
  },
})
