import { AuthError } from '../errors.js'
import { acceptedEncoding, encoded, tagged } from '../http/kept-document.js'
import { asset, withHeaders } from '../http/problem.js'
import { defineRoute } from '../http/route.js'

export const assetRoute = defineRoute({
  method: 'GET',
  path: '/assets/:file',
  limit: 'other',
  body: null,
  summary: 'Serves stylesheet, script and icon of our pages; their names hold a hash of their content.',
  async handle({ templates, params, request }) {
    const found = templates.asset(params.file ?? '')
    if (!found) throw new AuthError('not_found')
    const coding = acceptedEncoding(request.headers['accept-encoding'])
    const body = coding === null ? found.body : await found.compressed(coding)
    const response = withHeaders(asset(found.contentType, body), {
      ...(found.isStable && { 'cache-control': 'public, max-age=300' }),
    })
    return tagged(request, encoded(response, coding), coding === null ? found.tag : `${found.tag}-${coding}`)
  },
})
