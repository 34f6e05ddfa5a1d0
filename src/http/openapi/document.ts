import type { CookieName, CookieNames } from '../cookies.js'
import type { Route } from '../route.js'
import { parameterValue } from '../route-table.js'
import { apiHeaders, problemExamples, refusals, sharedRefusals, successes } from './answers.js'
import type { ApiDocument, ApiFacts, ApiOperation, ApiParameter, ApiSchemas } from './document-types.js'
import { withUsedComponents } from './document-types.js'

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

/** Groups of operations: the first segments of their paths, a name and a sentence. The reference page shows them in this order. */
const groups: readonly { name: string; description: string; segments: readonly string[] }[] = [
  {
    name: 'Registration',
    description: 'Create an account and confirm its email address.',
    segments: ['register', 'verify-email'],
  },
  {
    name: 'Sign-in',
    description: 'Sign in by password, mailed code or link, and second factor.',
    segments: ['login', 'otp', 'reauthenticate'],
  },
  {
    name: 'Sessions',
    description: 'Refresh tokens, sign out, list and end sessions.',
    segments: ['refresh', 'refreshtoken', 'logout', 'sessions', 'impersonation'],
  },
  { name: 'Account', description: 'Read, change and delete the account of the signed-in user.', segments: ['me'] },
  { name: 'Password', description: 'Reset a forgotten password and change a known one.', segments: ['password'] },
  { name: 'Email', description: 'Change the email address, and undo a change.', segments: ['email'] },
  {
    name: 'Two-factor',
    description: 'Turn two-factor authentication on and off, and replace backup codes.',
    segments: ['two-factor'],
  },
  {
    name: 'Passkeys',
    description: 'Sign in with a passkey, and add, list, name and remove passkeys.',
    segments: ['passkeys'],
  },
  {
    name: 'OAuth',
    description: 'Sign in with a provider, link and unlink its logins.',
    segments: ['oauth', 'oauthcallback', 'identities'],
  },
  { name: 'Reference', description: 'This document.', segments: ['openapi.json'] },
]

/** The groups of the control API: the segment below `/admin/api`. */
const controlGroups: typeof groups = [
  { name: 'Home', description: 'What runs here, its settings and its health.', segments: ['', 'health', 'settings'] },
  { name: 'Tool sign-in', description: 'Sign the command-line tool in.', segments: ['device'] },
  { name: 'API tokens', description: 'Create, list, rotate and remove API tokens.', segments: ['tokens'] },
  { name: 'Access', description: 'The IP allow-list, and the key set of another issuer.', segments: ['access'] },
  { name: 'Users', description: 'Administer accounts.', segments: ['users'] },
  {
    name: 'Project',
    description: 'Who may administer the project, and by which teams.',
    segments: ['project', 'teams'],
  },
  { name: 'Admin tokens', description: 'Make, list and remove admin tokens.', segments: ['admintokens'] },
  { name: 'Spaces', description: 'The spaces of the project.', segments: ['spaces'] },
  { name: 'All sessions', description: 'List and end the sessions of all users.', segments: ['sessions'] },
  { name: 'Audit', description: 'Read, export and verify the audit log.', segments: ['audit', 'audit.jsonl'] },
  { name: 'Mail', description: 'The mail queue, and previews of pages and mails.', segments: ['mail', 'templates'] },
  { name: 'Diagnosis', description: 'Findings with cause and cure.', segments: ['doctor'] },
  { name: 'Control reference', description: 'This document.', segments: ['openapi.json'] },
]

/** For `tags` of the document: the groups that have an operation. */
function tagsOf(paths: readonly string[]): { name: string; description: string }[] {
  const used = new Set(paths.map(tagOf))
  return [...groups, ...controlGroups]
    .filter(({ name }) => used.has(name))
    .map(({ name, description }) => ({ name, description }))
}

/**
 * The name of the group of a path.
 *
 * @throws {Error} when no group has the first segment of the path
 * @example tagOf('/login/two-factor') // 'Sign-in'
 */
function tagOf(path: string): string {
  const [, first = '', second, third = ''] = path.split('/')
  const control = first === 'admin' && second === 'api'
  const segment = control ? third : first
  const group = (control ? controlGroups : groups).find(({ segments }) => segments.includes(segment))
  if (group === undefined) throw new Error(`No group of http/openapi/tags.ts has ${path}.`)
  return group.name
}
