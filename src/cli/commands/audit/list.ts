import type { Command } from 'commander'
import type { Actor } from '../../../model/actor.js'
import type { AuditLine } from '../../home.js'
import type { Tool } from '../../tool.js'
import { type ListOptions, noteMore, pageInput, withListOptions } from '../lists.js'
import { shortTime } from '../times.js'
import { auditQuery, type FilterOptions, withFilterOptions } from './filter.js'

const headings = ['TIME', 'EVENT', 'OUTCOME', 'USER', 'ACTOR', 'IP', 'DETAIL']

export const example = 'latchkey audit --user ann@example.org --since 7d'

export function define(command: Command, open: () => Tool): void {
  withListOptions(withFilterOptions(command)).action(async (options: FilterOptions & ListOptions) => {
    const { output, home } = open()
    const opened = await home()
    const page = await opened.listAudit({ ...(await auditQuery(opened, options)), ...pageInput(options) })
    output.table(page, headings, page.items.map(rowOf))
    noteMore(output, page.nextCursor)
  })
}

function rowOf({ at, event, outcome, userId, actor, ip, detail }: AuditLine): string[] {
  const facts = Object.entries(detail).map(([name, value]) => `${name}=${value}`)
  return [shortTime(at, ''), event, outcome, userId ?? '', actorOf(actor), ip ?? '', facts.join(' ')]
}

function actorOf(actor: Actor | null): string {
  if (actor === null) return ''
  if (actor.kind === 'user')
    return actor.impersonating === null ? actor.userId : `${actor.userId} as ${actor.impersonating}`
  if (actor.kind === 'adminToken') return `token ${actor.tokenId}`
  return actor.kind === 'tool' ? `tool ${actor.osUser}` : actor.kind
}
