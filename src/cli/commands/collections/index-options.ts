import type { Command } from 'commander'
import { usage } from '../../tool-error.js'
import { separated } from '../repeated.js'

export interface IndexOptions {
  collection?: string
  index?: readonly string[]
}

/** @param fields what they are for */
export function withIndexOptions(command: Command, fields: string): Command {
  return command
    .argument('[collection]', 'the collection')
    .argument('[field...]', fields)
    .option('-c, --collection <collection>', 'The collection, instead of the argument')
    .option('-i, --index <field>', 'A field (repeatable)', separated)
}

/** @throws {ToolError} usage */
export function requireFields(given: readonly string[], more: readonly string[] = []): string[] {
  const fields = [...new Set([...given.flatMap((each) => separated(each)), ...more])]
  if (fields.length === 0) throw usage('Name a field, as in: latchkey createindex users email')
  return fields
}
