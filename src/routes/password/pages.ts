import { isResetLink } from '../../flows/password/reset.js'
import { defineRoute } from '../../http/route.js'
import { errorAt, pageValues } from '../page-values.js'
import { showPage } from '../show-page.js'

export const forgotPageRoute = defineRoute({
  method: 'GET',
  path: '/forgot',
  limit: 'other',
  body: null,
  summary: 'Shows the page that asks for a password link.',
  handle(context) {
    // The mails of sign-in codes are counted apart, so they still come where no more password links do.
    const { enabled, mail } = context.settings.otp
    return showPage(context, 'forgot', { ...pageValues(context), otpEnabled: enabled, otpLinkOnly: mail === 'link' })
  },
})

export const resetPageRoute = defineRoute({
  method: 'GET',
  path: '/reset',
  limit: 'other',
  body: null,
  summary: 'Shows the page of the mailed link. Opening it changes nothing.',
  async handle(context) {
    const values = pageValues(context)
    const signInUrl = context.settings.redirectFailUrl
    // Checks the link first, so that the user does not type a new password in vain.
    const isOver = values.token !== '' && !(await isResetLink(context.ports, values.token))
    const link = isOver ? { token: '', error: 'invalid_link' } : {}
    const at = errorAt(values.error, isOver || values.token === '' ? [] : ['password'])
    return showPage(context, 'reset', { ...values, ...link, at, signInUrl })
  },
})
