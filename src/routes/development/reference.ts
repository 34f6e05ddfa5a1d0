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
 * What describes the routes of the table, themselves among them.
 *
 * @param table the route table, which is not there yet when these become a part of it
 */
export function referenceRoutes(table: () => readonly Route[]): Route[] {
  const documentRoute = defineRoute({
    method: 'GET',
    path: '/openapi.json',
    limit: 'other',
    body: null,
    summary: 'Describes these routes in OpenAPI 3.1, as far as the settings let them answer.',
    answers: { 200: documentSchema },
    handle: async (context) => json(200, documentOf(table(), context)),
  })

  const pageRoute = defineRoute({
    method: 'GET',
    path: '/docs',
    limit: 'other',
    body: null,
    development: true,
    summary: 'Shows the same to people, in development only.',
    handle(context) {
      const documentUrl = `${context.authPath}${documentRoute.path}`
      return showPage(context, 'reference', { documentUrl, ...referenceOf(documentOf(table(), context)) })
    },
  })
  return [documentRoute, pageRoute]
}

function documentOf(table: readonly Route[], { settings, cookieNames, authPath }: RouteContext): ApiDocument {
  const routes = table.filter((route) => answers(route, settings))
  return openApiDocument({ routes, schemas: jsonSchemasOf(routes), settings, cookieNames, authPath })
}
