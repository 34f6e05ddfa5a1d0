import type { Command } from 'commander'

export const example = 'latchkey keys rotate --config latchkey.host.json'

/** Has commands below it, and does nothing itself. */
export function define(_command: Command): void {}
