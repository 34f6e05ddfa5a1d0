import { asksForUndoCode } from '../../flows/email/undo.js'
import { defineRoute } from '../../http/route.js'
import { errorAt, pageValues } from '../page-values.js'
import { showPage } from '../show-page.js'

export const emailChangePageRoute = defineRoute({
  method: 'GET',
  path: '/email-change',
  limit: 'other',
  body: null,
  summary: 'Shows the page of the link to a new address. Opening it changes nothing.',
  handle(context) {
    return showPage(context, 'email-change', { ...pageValues(context), startUrl: context.settings.redirectSuccessUrl })
  },
})

export const emailUndoPageRoute = defineRoute({
  method: 'GET',
  path: '/email-undo',
  limit: 'other',
  body: null,
  summary: 'Shows the page of the notice to a former address. Opening it changes nothing.',
  async handle(context) {
    const values = pageValues(context)
    const needsCode = values.token !== '' && (await asksForUndoCode(context.ports, values.token))
    return showPage(context, 'email-undo', {
      ...values,
      at: errorAt(values.error, needsCode ? ['code'] : []),
      needsCode,
    })
  },
})
