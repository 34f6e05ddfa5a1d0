import type { RouteContext } from '../http/route.js'
import type { FormField } from '../settings.js'

type Fields = Readonly<Record<string, unknown>>

/** The extra fields of a request. `cleared`: optional ones that the form left empty. */
export interface SentFields {
  fields: Fields
  cleared: readonly string[]
}

/** Browsers leave an unticked checkbox out, so our forms name theirs in this field. */
const checkboxesField = '_checkboxes'

/**
 * Converts the texts of a form to the types of the application's schema: numbers, booleans, dates and members of an enum. A
 * text that cannot be converted stays a text, which the schema refuses. JSON is returned unchanged.
 */
export function sentFields({ form, settings }: Pick<RouteContext, 'form' | 'settings'>, sent: Fields): SentFields {
  if (!form) return { fields: sent, cleared: [] }
  const { [checkboxesField]: listed, ...fields } = sent
  const values: Record<string, unknown> = Object.assign(Object.create(null), fields)
  const cleared: string[] = []
  const onForm = typeof listed === 'string' ? listed.split(',') : []
  for (const field of settings.registration.inputs) {
    const text = values[field.name] ?? (onForm.includes(field.name) ? 'false' : undefined)
    if (typeof text !== 'string') continue
    const value = valueIn(field, text)
    values[field.name] = value
    if (value !== undefined) continue
    delete values[field.name]
    cleared.push(field.name)
  }
  return { fields: values, cleared }
}

/** undefined: the field is left out. */
function valueIn(field: FormField, text: string): unknown {
  if (text === '' && field.kind !== 'checkbox') return field.emptyIsNull ? null : field.required ? text : undefined
  if (field.kind === 'number') return Number.isFinite(Number(text)) && text.trim() !== '' ? Number(text) : text
  if (field.kind === 'checkbox') return text !== 'false' && text !== ''
  return field.choices.find((choice) => String(choice) === text) ?? text
}
