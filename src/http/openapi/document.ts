import type { CookieName, CookieNames } from '../cookies.js'
import type { Route } from '../route.js'
import { parameterValue } from '../route-table.js'
import { apiHeaders, problemExamples, refusals, sharedRefusals, successes } from './answers.js'
import type { ApiDocument, ApiFacts, ApiOperation, ApiParameter, ApiSchemas } from './document-types.js'
import { tagOf, tagsOf } from './tags.js'
import { withUsedComponents } from './used-components.js'

const description = `Errors are problems by RFC 9457; \`code\` is the contract.

A browser keeps its tokens in cookies that no script can read. Any other client sends \`X-Auth-Mode: token\`: then no
cookie is set or read, answers carry the tokens, and the access token comes back as a bearer token. The mode is fixed when
a session begins, and refused to browsers.

Pages of the application's own origin may post forms in place of JSON. These are answered by a redirect or a page, and may
add \`_method=PATCH\` or \`DELETE\`, and \`_redirect\` with the address of the next page. Writes from other origins are
refused unless the settings trust them. HEAD is answered like GET where GET changes nothing; any other method is 405.`

/** The version of this interface, which is the package's. */
export const interfaceVersion = '0.1.0'

/** OpenAPI 3.1 of the routes that answer with JSON or lead a browser on; pages and what they load are no interface. */
export function openApiDocument(facts: ApiFacts): ApiDocument {
  const { settings, schemas, cookieNames, authPath } = facts
  const paths: Record<string, Record<string, ApiOperation>> = {}
  for (const route of facts.routes.filter(({ answers }) => answers !== undefined)) {
    for (const path of [route.path, ...(route.aliases ?? [])]) {
      const templated = path.replaceAll(/:(\w+)/g, '{$1}')
      paths[templated] = { ...paths[templated], [route.method.toLowerCase()]: operation(facts, route, path) }
    }
  }
  return withUsedComponents({
    openapi: '3.1.1',
    info: { title: `${settings.brand.name}: ${facts.title}`, version: interfaceVersion, description },
    jsonSchemaDialect: 'https://json-schema.org/draft/2020-12/schema',
    servers: [{ url: `${settings.origin}${authPath}` }],
    tags: tagsOf(Object.keys(paths)),
    paths,
    components: {
      schemas: schemas.named,
      responses: sharedRefusals(facts),
      parameters: { AuthMode: authMode },
      headers: apiHeaders,
      examples: problemExamples(),
      securitySchemes: securitySchemes(cookieNames),
    },
  })
}

function operation(facts: ApiFacts, route: Route, path: string): ApiOperation {
  const { body } = route
  const description = path === route.path ? {} : { description: `The same as \`${route.path}\`.` }
  return {
    operationId: operationId(route.method, path),
    tags: [tagOf(path)],
    summary: route.summary,
    ...description,
    security: securityOf(route),
    parameters: parametersOf(facts, route, path),
    ...(body === null ? {} : { requestBody: requestBodyOf(route, body, facts.schemas) }),
    responses: { ...successes(route, facts), ...refusals(route, facts) },
  }
}

function securitySchemes(names: CookieNames): ApiDocument['components']['securitySchemes'] {
  return {
    accessCookie: { type: 'apiKey', in: 'cookie', name: names.access, description: 'The access token of a browser.' },
    refreshCookie: {
      type: 'apiKey',
      in: 'cookie',
      name: names.refresh,
      description: 'The refresh token of a browser.',
    },
    accessToken: {
      type: 'http',
      scheme: 'bearer',
      bearerFormat: 'JWT',
      description: 'The access token in token mode.',
    },
  }
}

/** Who is signed in must show it; who reads a credential only if it is there asks for none. */
function securityOf({ signedIn, cookies = [] }: Route): ApiOperation['security'] {
  const access = [{ accessCookie: [] }, { accessToken: [] }]
  if (signedIn) return access
  return [
    {},
    ...(cookies.includes('access') ? access : []),
    ...(cookies.includes('refresh') ? [{ refreshCookie: [] }] : []),
  ]
}

const authMode: ApiParameter = {
  name: 'X-Auth-Mode',
  in: 'header',
  required: false,
  description: 'For clients without cookies: the response contains the tokens.',
  schema: { const: 'token' },
}

function parametersOf({ settings, cookieNames }: ApiFacts, route: Route, path: string): ApiOperation['parameters'] {
  const providers = settings.providers.map((provider) => provider.name)
  const inPath = [...path.matchAll(/:(\w+)/g)].map(([, name = '']): ApiParameter => {
    const known = name === 'provider' ? { examples: providers } : {}
    return { name, in: 'path', required: true, schema: { type: 'string', pattern: parameterValue.source, ...known } }
  })
  const optional = (place: ApiParameter['in'], name: string, description: string): ApiParameter => {
    return { name, in: place, required: false, description: description, schema: { type: 'string' } }
  }
  const ofSession = new Set<CookieName>(['access', 'refresh'])
  const inCookies = (route.cookies ?? []).filter((name) => !ofSession.has(name))
  return [
    ...inPath,
    ...Object.entries(route.query ?? {}).map(([name, description]) => optional('query', name, description)),
    ...inCookies.map((name) => optional('cookie', cookieNames[name], 'Set by an earlier step.')),
    ...(route.browserOnly ? [] : [{ $ref: '#/components/parameters/AuthMode' }]),
  ]
}

function requestBodyOf(route: Route, body: NonNullable<Route['body']>, schemas: ApiSchemas) {
  const content = { schema: schemas.refer(body) }
  const form = route.method === 'POST' ? { 'application/x-www-form-urlencoded': content } : {}
  return { required: !body.safeParse({}).success, content: { 'application/json': content, ...form } }
}

/** `PostLoginTwoFactor` of POST `/login/two-factor`: what generators call what belongs to the route. */
export function operationName(method: Route['method'], path: string): string {
  const words = [method.toLowerCase(), ...path.split(/[^a-z0-9]+/i)]
  return words.map((word) => word.slice(0, 1).toUpperCase() + word.slice(1)).join('')
}

/** `postLoginTwoFactor`. */
function operationId(method: Route['method'], path: string): string {
  const name = operationName(method, path)
  return name.slice(0, 1).toLowerCase() + name.slice(1)
}
