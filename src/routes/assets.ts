import { AuthError } from '../errors.js'
import { asset } from '../http/problem.js'
import { defineRoute } from '../http/route.js'

export const assetRoute = defineRoute({
  method: 'GET',
  path: '/assets/:file',
  limit: 'other',
  body: null,
  summary: 'Serves stylesheet and script of our pages; their names hold a hash of their content.',
  async handle({ templates, params }) {
    const found = templates.asset(params.file ?? '')
    if (!found) throw new AuthError('not_found')
    return asset(found.contentType, found.body)
  },
})
