import { z } from 'zod'
import { redirect } from '../../http/problem.js'
import { queryOf } from '../../http/query.js'
import { defineRoute } from '../../http/route.js'
import { withQuery } from '../../lib/url.js'
import { hasProviders } from './landing.js'
import { returnedByProvider } from './return.js'

/**
 * Accepts an answer that a provider posts (`response_mode=form_post`). Browsers send no cookies with a post from another site,
 * so a redirect to our own origin passes the answer to the callback. This route reads and changes nothing, so any site may post.
 */
export const postedOAuthRoute = defineRoute({
  method: 'POST',
  path: '/oauthcallback/:provider',
  limit: 'other',
  body: z.record(z.string(), z.unknown()),
  crossSite: true,
  page: '/login',
  enabled: hasProviders,
  summary: 'Receives an answer that a provider posts, and redirects the browser to the same address with GET.',
  answers: { 303: null },
  browserOnly: true,
  async handle({ params, authPath }, body) {
    const posted = Object.entries(body).filter((entry): entry is [string, string] => typeof entry[1] === 'string')
    // No field of a form comes twice.
    const returned = returnedByProvider(queryOf({ query: String(new URLSearchParams(posted)) }))
    const { state = null, code = null, error = null, issuer = null } = returned ?? {}
    const named = Object.entries({ state, code, error, iss: issuer }).flatMap(([name, value]) =>
      value === null ? [] : [[name, value] as const],
    )
    return redirect(303, withQuery(`${authPath}/oauthcallback/${params.provider}`, Object.fromEntries(named)))
  },
})
