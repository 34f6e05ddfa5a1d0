import type { Settings } from '../../settings.js'
import type { CookieNames } from '../cookies.js'
import type { Route } from '../route.js'

/** What we use of a JSON Schema (draft 2020-12). */
export interface ApiSchema {
  readonly [keyword: string]: unknown
  readonly $ref?: string
  readonly type?: string | readonly string[]
  readonly properties?: Readonly<Record<string, ApiSchema | boolean>>
  readonly required?: readonly string[]
  readonly items?: ApiSchema | boolean | (ApiSchema | boolean)[]
  readonly anyOf?: readonly ApiSchema[]
  readonly description?: string
}

/** The schemas of all routes, each under a name. */
export interface ApiSchemas {
  /** For `components.schemas` of the document. */
  named: Readonly<Record<string, ApiSchema>>
  /** A reference to the schema of a body or an answer. */
  refer(schema: NonNullable<Route['body']>): ApiSchema
}

/** What the document is made of. */
export interface ApiFacts {
  /** What the routes are for; the title of the document is the name of the application and this. */
  title: string
  /** The route table. */
  routes: readonly Route[]
  schemas: ApiSchemas
  settings: Settings
  cookieNames: CookieNames
  /** Where the auth routes lie for the client. */
  authPath: string
}

/** What we use of an operation of OpenAPI 3.1. */
export interface ApiOperation {
  operationId: string
  tags: readonly string[]
  summary: string
  description?: string
  security: readonly Readonly<Record<string, readonly string[]>>[]
  parameters: readonly (ApiParameter | ApiReference)[]
  requestBody?: { required: boolean; content: Readonly<Record<string, { schema: ApiSchema }>> }
  responses: Readonly<Record<string, ApiResponse | ApiReference>>
}

export interface ApiParameter {
  name: string
  in: 'path' | 'query' | 'header' | 'cookie'
  required: boolean
  description?: string
  schema: ApiSchema
}

export interface ApiDocument {
  openapi: '3.1.1'
  info: { title: string; version: string; description: string }
  jsonSchemaDialect: string
  servers: readonly { url: string }[]
  tags: readonly { name: string; description: string }[]
  paths: Readonly<Record<string, Readonly<Record<string, ApiOperation>>>>
  components: {
    schemas: Readonly<Record<string, ApiSchema>>
    responses: Readonly<Record<string, ApiResponse>>
    parameters: Readonly<Record<string, ApiParameter>>
    headers: Readonly<Record<string, { description: string; schema: ApiSchema }>>
    examples: Readonly<Record<string, { value: unknown }>>
    securitySchemes: Readonly<Record<string, Readonly<Record<string, string>>>>
  }
}

export interface ApiReference {
  $ref: string
}

/** What we use of a response of OpenAPI 3.1. */
export interface ApiResponse {
  description: string
  headers: Readonly<Record<string, ApiReference>>
  content?: Readonly<Record<string, { schema: ApiSchema; examples?: Readonly<Record<string, ApiReference>> }>>
}

type Components = ApiDocument['components']

/** The document without components that no operation refers to, directly or through another component. */
export function withUsedComponents(document: ApiDocument): ApiDocument {
  const { components, paths } = document
  const used = new Set<string>()
  const pending = referencesIn(paths)
  for (let reference = pending.pop(); reference !== undefined; reference = pending.pop()) {
    if (used.has(reference)) continue
    used.add(reference)
    pending.push(...referencesIn(componentOf(components, reference)))
  }
  const kept = <Value>(kind: keyof Components, values: Readonly<Record<string, Value>>) =>
    Object.fromEntries(Object.entries(values).filter(([name]) => used.has(`#/components/${kind}/${name}`)))
  return {
    ...document,
    components: {
      ...components, // security schemes are referred to by name, not by reference
      schemas: kept('schemas', components.schemas),
      responses: kept('responses', components.responses),
      parameters: kept('parameters', components.parameters),
      headers: kept('headers', components.headers),
      examples: kept('examples', components.examples),
    },
  }
}

function referencesIn(value: unknown): string[] {
  return [...JSON.stringify(value ?? null).matchAll(/"\$ref":"([^"]+)"/g)].map(([, reference = '']) => reference)
}

function componentOf(components: Components, reference: string): unknown {
  const [kind = '', name = ''] = reference.replace('#/components/', '').split('/')
  const found = Object.entries(components).find(([key]) => key === kind)?.[1]
  return Object.entries(found ?? {}).find(([key]) => key === name)?.[1]
}
