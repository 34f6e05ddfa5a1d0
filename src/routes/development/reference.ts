import { openApiDocument } from '../../http/openapi/document.js'
import type { ApiDocument } from '../../http/openapi/document-types.js'
import { referenceOf } from '../../http/openapi/reference.js'
import { json } from '../../http/problem.js'
import { defineRoute, type Route, type RouteContext } from '../../http/route.js'
import { answers } from '../../http/router.js'
import { documentSchema } from '../answer-schemas.js'
import { jsonSchemasOf } from '../json-schemas.js'
import { showPage } from '../show-page.js'

/**
 * The routes that describe the route table, including themselves.
 *
 * @param table returns the route table, which does not exist yet when these routes are added to it
 */
export function referenceRoutes(table: () => readonly Route[]): Route[] {
  const documentRoute = defineRoute({
    method: 'GET',
    path: '/openapi.json',
    limit: 'other',
    body: null,
    summary: 'Describes the routes that the settings enable, in OpenAPI 3.1.',
    answers: { 200: documentSchema },
    handle: async (context) => json(200, documentOf(table(), context)),
  })

  const pageRoute = defineRoute({
    method: 'GET',
    path: '/docs',
    limit: 'other',
    body: null,
    development: true,
    summary: 'Shows that description as a page, in development only.',
    handle(context) {
      const documentUrl = `${context.authPath}${documentRoute.path}`
      return showPage(context, 'reference', { documentUrl, ...referenceOf(documentOf(table(), context)) })
    },
  })
  return [documentRoute, pageRoute]
}

function documentOf(table: readonly Route[], { settings, cookieNames, authPath }: RouteContext): ApiDocument {
  const routes = table.filter((route) => !route.control && answers(route, settings))
  return openApiDocument({
    title: 'accounts and sessions',
    routes,
    schemas: jsonSchemasOf(routes),
    settings,
    cookieNames,
    authPath,
  })
}
