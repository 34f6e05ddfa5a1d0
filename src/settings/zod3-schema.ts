import { hasMethods, memberOf } from '../lib/members.js'

type JsonSchema = Record<string, unknown>

/** A schema without its wrappers, and whether the field may be left out. */
interface Read {
  schema: JsonSchema
  optional: boolean
}

/** The JSON Schema of the input of a zod 3 object; null for anything else. zod 3 itself has no JSON Schema. */
export function zod3JsonSchema(schema: object): JsonSchema | null {
  const object = withoutEffects(schema)
  const shape = memberOf(object, 'shape')
  if (nameOf(object) !== 'ZodObject' || typeof shape !== 'object' || shape === null) return null
  const read = Object.entries(shape).map(([name, value]): [string, Read] => [name, readSchema(value)])
  return {
    type: 'object',
    properties: Object.fromEntries(read.map(([name, value]) => [name, value.schema])),
    required: read.filter(([, { optional }]) => !optional).map(([name]) => name),
  }
}

function nameOf(schema: unknown): unknown {
  return memberOf(memberOf(schema, '_def'), 'typeName')
}

/** `refine` and `superRefine` wrap the object. */
function withoutEffects(schema: unknown): unknown {
  return nameOf(schema) === 'ZodEffects' ? withoutEffects(memberOf(memberOf(schema, '_def'), 'schema')) : schema
}

function readSchema(schema: unknown): Read {
  const def = memberOf(schema, '_def')
  const { schema: found, optional } = readKind(nameOf(schema), def)
  const description = memberOf(def, 'description')
  return { schema: typeof description === 'string' ? { ...found, description } : found, optional }
}

/** Where the schema inside another one stands in its definition. */
const inside: Readonly<Record<string, string>> = {
  ZodOptional: 'innerType',
  ZodDefault: 'innerType',
  ZodCatch: 'innerType',
  ZodNullable: 'innerType',
  ZodReadonly: 'innerType',
  ZodBranded: 'type',
  ZodEffects: 'schema',
  ZodPipeline: 'in',
}

function readKind(kind: unknown, def: unknown): Read {
  const member = typeof kind === 'string' ? inside[kind] : undefined
  if (member === undefined) return { schema: readPlain(kind, def), optional: false }
  const { schema, optional } = readSchema(memberOf(def, member))
  if (kind === 'ZodNullable') return { schema: { anyOf: [schema, { type: 'null' }] }, optional }
  if (kind === 'ZodDefault') return { schema: { ...schema, ...defaultOf(def) }, optional: true }
  // The input of a preprocessing step is unknown.
  const isPreprocess = kind === 'ZodEffects' && memberOf(memberOf(def, 'effect'), 'type') === 'preprocess'
  return { schema: isPreprocess ? {} : schema, optional: optional || kind === 'ZodOptional' || kind === 'ZodCatch' }
}

function defaultOf(def: unknown): JsonSchema {
  return hasDefault(def) ? { default: def.defaultValue() } : {}
}

function hasDefault(def: unknown): def is { defaultValue(): unknown } {
  return hasMethods(def, ['defaultValue'])
}

function readPlain(kind: unknown, def: unknown): JsonSchema {
  switch (kind) {
    case 'ZodString':
      return { type: 'string', ...lengths(def), ...formatOf(def) }
    case 'ZodNumber':
      return {
        type: checks(def).some((check) => memberOf(check, 'kind') === 'int') ? 'integer' : 'number',
        ...bounds(def),
      }
    case 'ZodBoolean':
      return { type: 'boolean' }
    case 'ZodLiteral':
      return { const: memberOf(def, 'value') }
    case 'ZodEnum':
      return { enum: memberOf(def, 'values') }
    case 'ZodNativeEnum':
      return { enum: nativeValues(memberOf(def, 'values')) }
    case 'ZodDate':
      return { type: 'string', format: memberOf(def, 'coerce') === true ? 'date' : 'date-object' }
    default:
      return {}
  }
}

function checks(def: unknown): unknown[] {
  const found = memberOf(def, 'checks')
  return Array.isArray(found) ? found : []
}

function bounds(def: unknown, names = { min: 'minimum', max: 'maximum' }): JsonSchema {
  const found: JsonSchema = {}
  for (const check of checks(def)) {
    const kind = memberOf(check, 'kind')
    if (kind === 'min' || kind === 'max') found[names[kind]] = memberOf(check, 'value')
  }
  return found
}

function lengths(def: unknown): JsonSchema {
  return bounds(def, { min: 'minLength', max: 'maxLength' })
}

function formatOf(def: unknown): JsonSchema {
  const formats: Readonly<Record<string, string>> = { email: 'email', url: 'uri', date: 'date' }
  const kinds = checks(def).map((check) => String(memberOf(check, 'kind')))
  const kind = kinds.find((name) => name in formats)
  return kind === undefined ? {} : { format: formats[kind] }
}

/** A TypeScript enum of numbers also maps its numbers to its names. */
function nativeValues(values: unknown): unknown[] {
  if (typeof values !== 'object' || values === null) return []
  const names = Object.keys(values).filter(
    (name) => typeof memberOf(values, String(memberOf(values, name))) !== 'number',
  )
  return names.map((name) => memberOf(values, name))
}
