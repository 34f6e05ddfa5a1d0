import { z } from 'zod'
import { hasMethods, memberOf } from '../lib/members.js'
import { oneLine } from '../lib/one-line.js'
import { zod3JsonSchema } from './zod3-schema.js'

/** A value that a choice offers. */
type ChoiceValue = string | number | boolean

/** An extra user field as our own pages show it. */
export interface FormField {
  name: string
  title: string
  /** A sentence about it; empty when the schema has none. */
  hint: string
  kind: 'text' | 'email' | 'url' | 'date' | 'number' | 'checkbox' | 'choice'
  required: boolean
  /** For a checkbox: only a tick is valid, as with terms of use. */
  mustTick: boolean
  /** An empty field is sent as null, because it must not be absent. */
  emptyIsNull: boolean
  choices: readonly ChoiceValue[]
  /** Of a number; of the length of a text. null: no bound. */
  min: number | null
  max: number | null
  whole: boolean
  initial: ChoiceValue | null
}

/** The fields that pages can show, and the names of required ones that they cannot. */
interface FormFields {
  shown: readonly FormField[]
  faults: readonly string[]
}

/** Fields that every account has. They are never passed to the schema. */
const ownNames = new Set(['email', 'password', 'name'])

/** Reads how pages show the fields of a schema. Required fields that no page can show are faults. */
export function formFieldsOf(schema: object | null): FormFields {
  if (schema === null) return { shown: [], faults: [] }
  const json = jsonSchemaOf(schema)
  const properties = memberOf(json, 'properties')
  if (typeof properties !== 'object' || properties === null)
    return { shown: [], faults: unreadableFaults(schema, json) }
  const required = memberOf(json, 'required')
  const isRequired = (name: string) => Array.isArray(required) && required.includes(name)

  const shown: FormField[] = []
  const faults: string[] = []
  for (const [name, property] of Object.entries(properties)) {
    const field = ownNames.has(name) ? null : readField(name, property, isRequired(name))
    if (field) shown.push(field)
    else if (isRequired(name)) faults.push(faultOf(name, property))
  }
  return { shown, faults }
}

function faultOf(name: string, property: unknown): string {
  const field = oneLine(name)
  if (ownNames.has(name)) return `requires ${field}, which every account has already. Remove it from the schema`
  if (memberOf(property, 'format') === dateObject) {
    return `requires a Date as ${field}, which neither JSON nor a form can send. Use z.iso.date() or z.coerce.date()`
  }
  return `requires ${field}, which the register page cannot show. Make it a text, number, boolean, enum or date, or make it optional`
}

/** Without a JSON Schema, only a validation shows whether a field is required. */
function unreadableFaults(schema: object, json: unknown): string[] {
  const isEmptyObject = memberOf(json, 'type') === 'object'
  if (isEmptyObject || !refusesNothing(schema)) return []
  return [
    'requires fields that the register page cannot show, because the schema gives no JSON Schema of an object. Pass one that does (valibot: toStandardJsonSchema), or make every field optional',
  ]
}

/** Whether the schema refuses an object without fields. False also if it answers later (a promise) or throws. */
function refusesNothing(schema: object): boolean {
  const standard = memberOf(schema, '~standard')
  if (!isValidator(standard)) return false
  try {
    const result = standard.validate({})
    if (result instanceof Promise) result.catch(() => {})
    const issues = memberOf(result, 'issues')
    return Array.isArray(issues) && issues.some((issue) => typeof memberOf(issue, 'message') === 'string')
  } catch {
    return false
  }
}

function isValidator(value: unknown): value is { validate(input: unknown): unknown } {
  return typeof memberOf(value, 'validate') === 'function'
}

function readField(name: string, property: unknown, required: boolean): FormField | null {
  const { schema, nullable } = withoutNull(property)
  const kind = kindOf(schema)
  // Names such as `_method` and `_redirect` have another meaning in a form.
  if (kind === null || name === '' || name.startsWith('_')) return null
  const initial = memberOf(schema, 'default') ?? memberOf(property, 'default')
  const choices = kind === 'choice' || kind === 'checkbox' ? valuesOf(schema) : []
  const [least, most] = kind === 'number' ? ['minimum', 'maximum'] : ['minLength', 'maxLength']
  return {
    name,
    title: textOf(schema, property, 'title') || titleOf(name),
    hint: textOf(schema, property, 'description'),
    kind,
    required: required && !nullable,
    mustTick: required && !nullable && kind === 'checkbox' && choices.length === 1 && choices[0] === true,
    emptyIsNull: required && nullable,
    choices: kind === 'choice' ? choices : [],
    min: boundOf(schema, least),
    max: boundOf(schema, most),
    whole: memberOf(schema, 'type') === 'integer',
    initial: isChoiceValue(initial) ? initial : null,
  }
}

/** Removes null from the types that a field accepts. Libraries write it as a further type or as a branch. */
function withoutNull(property: unknown): { schema: unknown; nullable: boolean } {
  const type = memberOf(property, 'type')
  if (Array.isArray(type)) {
    const others = type.filter((name) => name !== 'null')
    const [only] = others
    const schema = { ...Object(property), type: others.length === 1 ? only : others }
    return { schema, nullable: others.length < type.length }
  }
  const branches = memberOf(property, 'anyOf') ?? memberOf(property, 'oneOf')
  if (!Array.isArray(branches)) return { schema: property, nullable: false }
  const others = branches.filter((branch) => memberOf(branch, 'type') !== 'null')
  const nullable = others.length < branches.length
  return { schema: others.length === 1 ? others[0] : unionOf(others), nullable }
}

/** A union of literals is a choice. */
function unionOf(branches: readonly unknown[]): unknown {
  const values = branches.map(valuesOf)
  return values.every((list) => list.length > 0) ? { enum: values.flat() } : {}
}

const textKinds: Readonly<Record<string, 'email' | 'url' | 'date'>> = { email: 'email', uri: 'url', date: 'date' }

function kindOf(schema: unknown): FormField['kind'] | null {
  const values = valuesOf(schema)
  if (values.length > 0) return values.every((value) => typeof value === 'boolean') ? 'checkbox' : 'choice'
  if (memberOf(schema, 'enum') !== undefined || memberOf(schema, 'const') !== undefined) return null
  const format = memberOf(schema, 'format')
  switch (memberOf(schema, 'type')) {
    case 'string':
      if (format === dateObject) return null
      return (typeof format === 'string' ? textKinds[format] : undefined) ?? 'text'
    case 'number':
    case 'integer':
      return 'number'
    case 'boolean':
      return 'checkbox'
    default:
      return null
  }
}

/** The values of an enum or literal. Empty if one of them is no text, number or boolean. */
function valuesOf(schema: unknown): ChoiceValue[] {
  const given = memberOf(schema, 'enum') ?? [memberOf(schema, 'const')]
  return Array.isArray(given) && given.every(isChoiceValue) ? given : []
}

function isChoiceValue(value: unknown): value is ChoiceValue {
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean'
}

function textOf(schema: unknown, property: unknown, name: 'title' | 'description'): string {
  const text = memberOf(schema, name) ?? memberOf(property, name)
  return typeof text === 'string' ? oneLine(text) : ''
}

/** Libraries often give integers the bounds of a safe integer, which mean nothing to users. */
function boundOf(schema: unknown, name: string): number | null {
  const bound = memberOf(schema, name)
  return typeof bound === 'number' && Math.abs(bound) < Number.MAX_SAFE_INTEGER ? bound : null
}

/** `companyName` and `company_name` are called "Company name". */
function titleOf(name: string): string {
  const words = name
    .replace(/([\p{Ll}\d])(\p{Lu})/gu, '$1 $2')
    .replace(/[\s_.-]+/g, ' ')
    .trim()
    .toLowerCase()
  return words.slice(0, 1).toUpperCase() + words.slice(1)
}

/** Our own format for schemas that take a `Date`, which neither JSON nor a form can send. JSON Schema has none for it. */
const dateObject = 'date-object'

/**
 * The JSON Schema of the input of a Standard Schema, or null if its library offers none. zod schemas are read directly: zod 3
 * has no JSON Schema, and zod 4 refuses schemas that contain a date.
 */
function jsonSchemaOf(schema: object): unknown {
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
