import type { Command } from 'commander'
import type { PageInput } from '../home.js'
import type { Output } from '../output.js'
import { usage } from '../tool-error.js'

/** The options of a command that prints one page of a list. */
export interface ListOptions {
  limit?: string
  cursor?: string
}

export function withListOptions(command: Command): Command {
  return command
    .option('--limit <number>', 'How many to print, 1 to 200 (default: 50)')
    .option('--cursor <cursor>', 'Go on where the page before ended')
}

/** @throws {ToolError} usage */
export function pageInput({ limit, cursor }: ListOptions): PageInput {
  const count = Number(limit ?? 50)
  if (!Number.isInteger(count) || count < 1 || count > 200) throw usage('--limit takes a number from 1 to 200.')
  return { limit: count, ...(cursor !== undefined && { cursor }) }
}

/** Says how to see the next page. */
export function noteMore(output: Output, nextCursor: string | null): void {
  if (nextCursor !== null) output.note(`There is more. Add: --cursor ${nextCursor}`)
}
