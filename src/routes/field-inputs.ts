import type { RouteContext } from '../http/route.js'
import type { FormField } from '../settings.js'

type Fields = Readonly<Record<string, unknown>>

/** The values of the partial `pages/fields`. `stored` are the fields of a user; without them the schema's defaults show. */
export function fieldInputs(
  { settings }: Pick<RouteContext, 'settings'>,
  stored: Fields | null,
  wrong: readonly string[],
) {
  const { inputs } = settings.registration
  const checkboxes = inputs.filter(({ kind }) => kind === 'checkbox').map(({ name }) => name)
  return {
    checkboxes: checkboxes.join(','),
    extraFields: inputs.map((field) => inputOf(field, stored === null ? field.initial : stored[field.name], wrong)),
  }
}

function inputOf(field: FormField, value: unknown, wrong: readonly string[]) {
  const { name, title, hint, kind, min, max } = field
  const isText = kind !== 'number' && kind !== 'date'
  const isWrong = wrong.includes(name)
  return {
    name,
    title,
    hint,
    isCheckbox: kind === 'checkbox',
    isChoice: kind === 'choice',
    type: kind,
    required: kind === 'checkbox' ? field.mustTick : field.required,
    optional: kind !== 'checkbox' && !field.required,
    checked: value === true,
    value: kind === 'date' ? dateOf(value) : textOf(value),
    choices: field.choices.map((choice) => ({ choice: String(choice), selected: choice === value })),
    min: kind === 'number' ? textOf(min) : '',
    max: kind === 'number' ? textOf(max) : '',
    step: kind === 'number' ? (field.whole ? '1' : 'any') : '',
    minLength: isText ? textOf(min) : '',
    maxLength: isText ? textOf(max) : '',
    wrong: isWrong,
    noted: isWrong || hint !== '',
  }
}

function textOf(value: unknown): string {
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean' ? String(value) : ''
}

/** A schema may turn the text into a `Date`, which is stored as an ISO time. */
function dateOf(value: unknown): string {
  return /^\d{4}-\d{2}-\d{2}(?=T|$)/.exec(textOf(value))?.[0] ?? ''
}
