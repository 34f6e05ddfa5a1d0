import { z } from 'zod'
import { userSchema } from '../contract/users.js'
import { operationName } from '../http/openapi/document.js'
import type { ApiSchema, ApiSchemas } from '../http/openapi/document-types.js'
import type { Route } from '../http/route.js'
import { backupCodesSchema, registeredSchema, sessionSchema, signInSchema, twoFactorSchema } from './answer-schemas.js'
import { problemSchema } from './problem-schema.js'

/** Schemas with a name of their own. The others are named after the first route that uses them. */
const namedSchemas = {
  User: userSchema,
  SessionAnswer: sessionSchema,
  RegisteredAnswer: registeredSchema,
  SignInAnswer: signInSchema,
  TwoFactorRequired: twoFactorSchema,
  BackupCodes: backupCodesSchema,
  Problem: problemSchema,
}

/** The schemas by which bodies are parsed and answers described, as JSON Schemas (draft 2020-12) that name each other. */
export function jsonSchemasOf(routes: readonly Route[]): ApiSchemas {
  const registry = z.registry<{ id: string }>()
  const add = (id: string, schema: unknown) => {
    if (schema instanceof z.ZodType && !registry.has(schema)) registry.add(schema, { id })
  }
  for (const [id, schema] of Object.entries(namedSchemas)) add(id, schema)
  for (const route of routes) {
    const name = operationName(route.method, route.path)
    add(`${name}Body`, route.body)
    for (const schema of Object.values(route.answers ?? {})) add(`${name}Answer`, schema)
  }

  const { schemas } = z.toJSONSchema(registry, { uri: reference, io: 'input', override: tidy })
  const named = Object.entries(schemas).map(([id, { $schema: _draft, $id: _id, ...schema }]): [string, ApiSchema] => [
    id,
    schema,
  ])
  return {
    named: Object.fromEntries(named),
    refer: (schema) => ({ $ref: reference(registry.get(schema)?.id ?? '') }),
  }
}

function reference(id: string): string {
  return `#/components/schemas/${id}`
}

/** Removes the pattern of a date, because its format says the same, and adds the description of a field. */
function tidy({
  zodSchema,
  jsonSchema,
}: {
  zodSchema: z.core.$ZodType
  jsonSchema: z.core.JSONSchema.BaseSchema
}): void {
  if (jsonSchema.format === 'date-time') delete jsonSchema.pattern
  const description = z.globalRegistry.get(zodSchema)?.description
  if (description !== undefined && jsonSchema.$ref === undefined) jsonSchema.description = description
}
