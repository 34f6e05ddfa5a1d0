import type { Command } from 'commander'
import type { AdminTokenEntry } from '../../host-home.js'
import type { Tool } from '../../tool.js'
import { shortTime } from '../times.js'

const headings = ['ID', '5 first characters', 'NAME', 'OWNER', 'MADE BY', 'SPACES', 'COMMANDS', 'LAST USE', 'EXPIRES']

export const example = 'latchkey admintokens'

export function define(command: Command, open: () => Tool): void {
  command.action(async () => {
    const { output, adminTokens } = open()
    const tokens = await (await adminTokens()).listAdminTokens()
    output.table(tokens, headings, tokens.map(rowOf))
    if (tokens.length === 0) output.note('There are no admin tokens. Create one with: latchkey add-admintoken')
  })
}

function rowOf({ id, start, name, owner, madeBy, spaces, commands, lastUse, expiresAt }: AdminTokenEntry): string[] {
  return [
    id,
    start,
    name,
    ownerOf(owner),
    madeBy.email ?? 'removed account',
    spaces?.join(' ') ?? 'all',
    commands?.join(' ') ?? 'all',
    lastUse === null ? 'never' : [lastUse.day, lastUse.network ?? ''].join(' ').trim(),
    shortTime(expiresAt, 'never'),
  ]
}

/** `team deployers`, or `personal ann@example.org`. */
function ownerOf({ kind, name }: AdminTokenEntry['owner']): string {
  return kind === 'team' ? `team ${name}` : `personal ${name}`.trim()
}
