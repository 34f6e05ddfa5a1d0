import { usage } from '../../tool-error.js'

const forms = ['csv', 'table', 'pretty', 'jsonl'] as const

/** At most one option chooses the form of the objects. @throws {ToolError} usage */
export function requireOneForm(options: Partial<Record<(typeof forms)[number], boolean>>): void {
  const chosen = forms.filter((form) => options[form] === true).map((form) => `--${form}`)
  if (chosen.length > 1) throw usage(`${chosen.join(' and ')} exclude each other: objects are printed in one form.`)
}
