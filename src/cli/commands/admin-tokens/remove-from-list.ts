import type { Command } from 'commander'
import type { Tool } from '../../tool.js'
import * as removal from './remove.js'

export const example = 'latchkey admintokens remove --all'

/** `remove-admintoken` below the list of admin tokens. */
export function define(command: Command, open: () => Tool): void {
  removal.define(command, open)
}
