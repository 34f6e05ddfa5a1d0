import { authPathMark, keptDocument } from '../../http/kept-document.js'
import { openApiDocument } from '../../http/openapi/document.js'
import type { Route } from '../../http/route.js'
import { answers } from '../../http/router.js'
import { documentSchema } from '../answer-schemas.js'
import { jsonSchemasOf } from '../json-schemas.js'
import { defineControlRoute } from './control-route.js'

/** @param table the routes of the control API, which are not there yet when this becomes one of them */
export function controlReferenceRoute(table: () => readonly Route[]): Route {
  return defineControlRoute({
    method: 'GET',
    path: '/openapi.json',
    body: null,
    who: 'member',
    summary: 'Describes the control API in OpenAPI 3.1.',
    answers: { 200: documentSchema },
    handle: keptDocument(({ settings, cookieNames }) => {
      const routes = table().filter((route) => answers(route, settings))
      const schemas = jsonSchemasOf(routes)
      const facts = { title: 'administration', routes, schemas, settings, cookieNames, authPath: authPathMark }
      return openApiDocument(facts)
    }),
  })
}
