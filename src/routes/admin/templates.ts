import { z } from 'zod'
import { AuthError } from '../../errors.js'
import { json } from '../../http/problem.js'
import { defineControlRoute } from './control-route.js'
import { queryText } from './fields.js'

export const listTemplatesRoute = defineControlRoute({
  method: 'GET',
  path: '/templates',
  body: null,
  who: 'admin',
  summary: 'Lists the pages and mails that have samples, and the languages.',
  answers: {
    200: z.object({
      templates: z.array(z.object({ kind: z.enum(['pages', 'mail']), name: z.string() })),
      locales: z.array(z.string()),
    }),
  },
  handle: async ({ templates }) => json(200, { templates: templates.names(), locales: templates.locales() }),
})

export const showTemplateRoute = defineControlRoute({
  method: 'GET',
  path: '/templates/:kind/:name',
  body: null,
  who: 'admin',
  summary: 'Shows a page or mail with sample values.',
  query: { locale: 'One of the listed languages. Default: the one of the settings.' },
  answers: {
    200: z.object({
      html: z.string(),
      subject: z.string().optional().describe('Of a mail.'),
      text: z.string().optional().describe('Of a mail.'),
    }),
  },
  errors: ['not_found'],
  async handle({ templates, params, request, settings }) {
    await templates.prepare()
    const locale = queryText(request, 'locale') ?? settings.locale
    const sample = templates.sample(params.kind ?? '', params.name ?? '', locale)
    if (sample === null) throw new AuthError('not_found')
    return json(200, sample)
  },
})
