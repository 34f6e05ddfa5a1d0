import { AuthError } from '../../../errors.js'
import { queryText } from '../fields.js'
import { defineAdminPage } from './admin-page.js'

export const templatesPage = defineAdminPage({
  path: '/templates',
  at: 'templates',
  template: 'templates',
  showsMails: true,
  summary: 'Shows every page and mail with sample values, in each language.',
  query: { template: 'Kind and name, such as `mail/otp`.', locale: 'A language with texts.' },
  async values({ templates, settings, request }) {
    const names = templates.names().map(({ kind, name }) => `${kind}/${name}`)
    const locales = templates.locales()
    const chosen = queryText(request, 'template') ?? names[0] ?? ''
    const locale = queryText(request, 'locale') ?? settings.locale
    const [kind = '', name = ''] = chosen.split('/')
    await templates.prepare()
    const sample = templates.sample(kind, name, locale)
    if (sample === null) throw new AuthError('not_found')
    return {
      names: names.map((value) => ({ value, selected: value === chosen })),
      locales: locales.map((value) => ({ value, selected: value === locale })),
      shown: { name: chosen, subject: '', text: '', ...sample },
    }
  },
})
