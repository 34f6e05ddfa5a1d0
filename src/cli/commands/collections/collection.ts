import { usage } from '../../tool-error.js'

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
