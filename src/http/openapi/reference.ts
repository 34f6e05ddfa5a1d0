import type { ApiDocument, ApiOperation, ApiSchema } from './document-types.js'

/** One line of a list of fields or parameters. */
export interface ReferenceField {
  name: string
  /** As TypeScript would write it, more or less. */
  type: string
  optional: boolean
  /** In English, as the document has it; may be empty. */
  about: string
}

/** What is sent or answered: its fields, and the schemas that have a place of their own. */
export interface ReferenceShape {
  fields: ReferenceField[]
  /** Further ones, of the application. */
  open: boolean
  /** Of several that may be sent or answered, not the first. */
  other: boolean
  /** The schema's own place on the page; else empty. */
  see: string
}

/** The interface as the reference page shows it: plain values, made of nothing but the document. */
export function referenceOf({ servers, tags, paths, components }: ApiDocument) {
  const { schemas } = components
  const base = new URL(servers[0]?.url ?? '').pathname
  const listed = Object.entries(paths).flatMap(([path, byMethod]) =>
    Object.entries(byMethod).map(([method, operation]) => ({ path: `${base}${path}`, method, operation })),
  )
  const ofOne = new Set(listed.flatMap(({ operation }) => ownSchemas(operation.operationId)))
  const shapes = (schema: ApiSchema) => shapesOf(schema, schemas, (name) => !ofOne.has(name))
  const operationsOf = (tag: string) =>
    listed
      .filter(({ operation }) => operation.tags.includes(tag))
      .map(({ path, method, operation }) => {
        const { operationId: id, summary, description = '' } = operation
        const place = { id, method: method.toUpperCase(), path, summary, description }
        return { ...place, ...partsOf(operation, components, shapes) }
      })
  return {
    groups: tags.map(({ name, description: about }) => {
      return { id: `group-${name.toLowerCase()}`, name, about, operations: operationsOf(name) }
    }),
    schemas: Object.entries(schemas)
      .filter(([name, schema]) => !ofOne.has(name) && !schema.anyOf)
      .map(([name, schema]) => ({ name, about: schema.description ?? '', shapes: shapes(schema) })),
  }
}

/** What a schema is called that belongs to one route. */
function ownSchemas(operationId: string): string[] {
  const name = operationId.slice(0, 1).toUpperCase() + operationId.slice(1)
  return [`${name}Body`, `${name}Answer`]
}

function partsOf(
  { security, parameters, requestBody, responses }: ApiOperation,
  components: ApiDocument['components'],
  shapes: (schema: ApiSchema) => ReferenceShape[],
) {
  const contents = Object.entries(responses).map(([status, response]) => {
    const { content = {}, description: about = '' } =
      '$ref' in response ? (components.responses[lastPart(response)] ?? {}) : response
    const refused = content['application/problem+json']
    return { status, content, about, refused: refused !== undefined, codes: Object.keys(refused?.examples ?? {}) }
  })
  return {
    signedIn: security.every((needed) => Object.keys(needed).length > 0),
    parameters: parameters
      .flatMap((one) => ('$ref' in one ? (components.parameters[lastPart(one)] ?? []) : one))
      .map(({ name, in: place, required, schema, description = '' }) => {
        return { name, place, type: typeOf(schema), optional: !required, about: description }
      }),
    body: requestBody ? shapes(requestBody.content['application/json']?.schema ?? {}) : [],
    answers: contents
      .filter(({ refused }) => !refused)
      .map(({ status, content, about }) => {
        const answered = content['application/json']
        return answered ? { status, about: '', shapes: shapes(answered.schema) } : { status, about, shapes: [] }
      }),
    refusals: contents.filter(({ codes }) => codes.length > 0).map(({ status, codes }) => ({ status, codes })),
  }
}

function shapesOf(
  schema: ApiSchema,
  schemas: Readonly<Record<string, ApiSchema>>,
  isShared: (name: string) => boolean,
): ReferenceShape[] {
  return alternatives(schema, schemas, isShared).map((found, index) => {
    const { properties = {}, required = [], additionalProperties } = found
    const fields = Object.entries(properties).map(([name, of]): ReferenceField => {
      const about = typeof of === 'boolean' ? '' : (of.description ?? '')
      return { name, type: typeOf(of), optional: !required.includes(name), about }
    })
    return { fields, open: additionalProperties !== undefined, other: index > 0, see: lastPart(found) }
  })
}

/** What may stand there, references followed; but a schema with a place of its own is only pointed to. */
function alternatives(
  schema: ApiSchema,
  schemas: Readonly<Record<string, ApiSchema>>,
  isShared: (name: string) => boolean,
): ApiSchema[] {
  const name = lastPart(schema)
  const own = name === '' ? schema : (schemas[name] ?? {})
  if (name !== '' && isShared(name) && !own.anyOf) return [schema]
  return own.anyOf ? own.anyOf.flatMap((part) => alternatives(part, schemas, isShared)) : [own]
}

/** The name at the end of a reference; empty where there is none. */
function lastPart({ $ref = '' }: { readonly $ref?: string }): string {
  return $ref.slice($ref.lastIndexOf('/') + 1)
}

/** `string (1–128)`, `string | null`, `User`, `{ id, expiresAt }[]`. */
function typeOf(schema: ApiSchema | boolean): string {
  if (typeof schema === 'boolean') return 'unknown'
  if (schema.$ref !== undefined) return lastPart(schema)
  if (schema.anyOf) return schema.anyOf.map(typeOf).join(' | ')
  if (schema.const !== undefined) return JSON.stringify(schema.const)
  if (Array.isArray(schema.enum)) return schema.enum.map((value) => JSON.stringify(value)).join(' | ')
  if (schema.properties) return `{ ${Object.keys(schema.properties).join(', ')} }`
  if (schema.type === 'array') return `${Array.isArray(schema.items) ? 'unknown' : typeOf(schema.items ?? true)}[]`
  const type = typeof schema.format === 'string' ? schema.format : [schema.type ?? 'unknown'].flat().join(' | ')
  return schema.maxLength === undefined ? type : `${type} (${schema.minLength ?? 0}–${schema.maxLength})`
}
