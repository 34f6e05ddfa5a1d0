import { running } from '../../contract/running.js'
import { AuthError } from '../../errors.js'
import { json } from '../../http/problem.js'
import { defineControlRoute } from './control-route.js'
import { queryText } from './fields.js'

export const listTemplatesRoute = defineControlRoute({
  ...running.templates,
  handle: async ({ templates }) => json(200, { templates: templates.names(), locales: templates.locales() }),
})

export const showTemplateRoute = defineControlRoute({
  ...running.template,
  async handle({ templates, params, request, settings }) {
    await templates.prepare()
    const locale = queryText(request, 'locale') ?? settings.locale
    const sample = templates.sample(params.kind ?? '', params.name ?? '', locale)
    if (sample === null) throw new AuthError('not_found')
    return json(200, sample)
  },
})
