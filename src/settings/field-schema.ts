import { z } from 'zod'
import { hasMethods, memberOf } from '../lib/members.js'
import { zod3JsonSchema } from './zod3-schema.js'

/** Our own format for schemas that take a `Date`, which neither JSON nor a form can send. JSON Schema has none for it. */
export const dateObject = 'date-object'

/**
 * The JSON Schema of the input of a Standard Schema, or null if its library offers none. zod schemas are read directly: zod 3
 * has no JSON Schema, and zod 4 refuses schemas that contain a date.
 */
export function jsonSchemaOf(schema: object): unknown {
  try {
    if (isZod4(schema)) return zod4JsonSchema(schema)
    return zod3JsonSchema(schema) ?? standardJsonSchema(schema) ?? ownJsonSchema(schema)
  } catch {
    // Libraries throw for what JSON Schema cannot express, such as a transformation.
    return null
  }
}

function isZod4(schema: object): schema is z.core.$ZodType {
  return typeof memberOf(memberOf(memberOf(schema, '_zod'), 'def'), 'type') === 'string'
}

function zod4JsonSchema(schema: z.core.$ZodType): unknown {
  return z.toJSONSchema(schema, {
    io: 'input',
    unrepresentable: 'any',
    override({ zodSchema, jsonSchema }) {
      const { def } = zodSchema._zod
      if (def.type !== 'date') return
      jsonSchema.type = 'string'
      jsonSchema.format = memberOf(def, 'coerce') === true ? 'date' : dateObject
    },
  })
}

/** Standard JSON Schema (standardschema.dev): arktype, and valibot with `toStandardJsonSchema`. */
function standardJsonSchema(schema: object): unknown {
  const converter = memberOf(memberOf(schema, '~standard'), 'jsonSchema')
  if (!hasInput(converter)) return null
  return converter.input({ target: 'draft-2020-12' })
}

function hasInput(value: unknown): value is { input(options: { target: string }): unknown } {
  return hasMethods(value, ['input'])
}

/** arktype before Standard JSON Schema. */
function ownJsonSchema(schema: object): unknown {
  return hasToJsonSchema(schema) ? schema.toJsonSchema() : null
}

function hasToJsonSchema(value: unknown): value is { toJsonSchema(): unknown } {
  return hasMethods(value, ['toJsonSchema'])
}
