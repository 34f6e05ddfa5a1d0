import type { Command } from 'commander'
import { usage } from '../../tool-error.js'
import { separated } from '../repeated.js'

export interface IndexOptions {
  collection?: string
  index?: readonly string[]
}

export function withIndexOptions(command: Command): Command {
  return command
    .argument('[collection]', 'the collection')
    .argument('[field...]', 'fields, each of which gets an index of its own')
    .option('-c, --collection <collection>', 'The collection, instead of the argument')
    .option('-i, --index <field>', 'A field (repeatable)', separated)
}

/** @throws {ToolError} usage */
export function requireFields(given: readonly string[], more: readonly string[] = []): string[] {
  const fields = [...new Set([...given.flatMap((each) => separated(each)), ...more])]
  if (fields.length === 0) throw usage('Name a field, as in: latchkey createindex users email')
  return fields
}
