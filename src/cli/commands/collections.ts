import { usage } from '../tool-error.js'

const form = /^[A-Za-z][\w-]*(\.[\w-]+)*$/

/** The collection of a command, by its argument or `-c`. @throws {ToolError} usage */
export function requireCollection(argument: string | undefined, option?: string): string {
  if (argument !== undefined && option !== undefined && argument !== option) {
    throw usage('Name the collection once: as the argument, or with -c.')
  }
  const name = argument ?? option
  if (name === undefined) throw usage('Name the collection.')
  if (name.length <= 64 && form.test(name)) return name
  throw usage(`${name} is no name of a collection: up to 64 letters, digits, _, - and dots, the first a letter.`)
}

const forms = ['csv', 'table', 'pretty', 'jsonl'] as const

/** At most one option chooses the form of the objects. @throws {ToolError} usage */
export function requireOneForm(options: Partial<Record<(typeof forms)[number], boolean>>): void {
  const chosen = forms.filter((form) => options[form] === true).map((form) => `--${form}`)
  if (chosen.length > 1) throw usage(`${chosen.join(' and ')} exclude each other: objects are printed in one form.`)
}
