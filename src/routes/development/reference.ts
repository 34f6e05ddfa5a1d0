import { authPathMark, keptDocument } from '../../http/kept-document.js'
import type { HttpResponse } from '../../http/message.js'
import { openApiDocument } from '../../http/openapi/document.js'
import type { ApiDocument } from '../../http/openapi/document-types.js'
import { referenceOf } from '../../http/openapi/reference.js'
import { defineRoute, type Route, type RouteContext } from '../../http/route.js'
import { answers } from '../../http/router.js'
import type { Settings } from '../../settings.js'
import { documentSchema } from '../answer-schemas.js'
import { jsonSchemasOf } from '../json-schemas.js'
import { showPage } from '../show-page.js'

/**
 * The routes that describe the route table, including themselves.
 *
 * @param table returns the route table, which does not exist yet when these routes are added to it
 */
export function referenceRoutes(table: () => readonly Route[]): Route[] {
  const made = new WeakMap<Settings, ApiDocument>()
  const shown = new WeakMap<Settings, { authPath: string; response: HttpResponse }>()
  const documentOf = (context: RouteContext) => {
    const document = made.get(context.settings) ?? describe(table(), context)
    made.set(context.settings, document)
    return document
  }

  const documentRoute = defineRoute({
    method: 'GET',
    path: '/openapi.json',
    limit: 'other',
    body: null,
    summary: 'Describes the routes that the settings enable, in OpenAPI 3.1.',
    answers: { 200: documentSchema },
    handle: keptDocument(documentOf),
  })

  const pageRoute = defineRoute({
    method: 'GET',
    path: '/docs',
    limit: 'other',
    body: null,
    development: true,
    summary: 'Shows that description as a page, in development only.',
    async handle(context) {
      const { settings, authPath, acting } = context
      const known = shown.get(settings)
      // The banner of an impersonation is of one visitor.
      if (known?.authPath === authPath && acting() === null) return known.response
      const documentUrl = `${authPath}${documentRoute.path}`
      const servers = [{ url: `${settings.origin}${authPath}` }]
      const values = { documentUrl, ...referenceOf({ ...documentOf(context), servers }) }
      const response = await showPage(context, 'reference', values)
      if (acting() === null) shown.set(settings, { authPath, response })
      return response
    },
  })
  return [documentRoute, pageRoute]
}

function describe(table: readonly Route[], { settings, cookieNames }: RouteContext): ApiDocument {
  const routes = table.filter((route) => !route.control && answers(route, settings))
  return openApiDocument({
    title: 'accounts and sessions',
    routes,
    schemas: jsonSchemasOf(routes),
    settings,
    cookieNames,
    authPath: authPathMark,
  })
}
