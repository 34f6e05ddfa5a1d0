import type { Actor } from '../../model/actor.js'
import { defineCommand, type OptionsOf } from '../command.js'
import { exportOptions, exportRecords } from '../files/exported-records.js'
import type { AuditLine, AuditQuery, Home } from '../home.js'
import { ToolError } from '../tool-error.js'
import { accountOf } from './account.js'
import { type Columns, listOptions, pageInput, printPage } from './lists.js'
import { pastTime, shortTime } from './units.js'

const columns: Columns<AuditLine> = {
  TIME: ({ at }) => shortTime(at, ''),
  EVENT: ({ event }) => event,
  OUTCOME: ({ outcome }) => outcome,
  USER: ({ userId }) => userId,
  ACTOR: ({ actor }) => actorOf(actor),
  IP: ({ ip }) => ip,
  DETAIL: ({ detail }) =>
    Object.entries(detail)
      .map(([name, value]) => `${name}=${value}`)
      .join(' '),
}

const filterOptions = [
  ['--user <user>', 'Events about this account: address or id'],
  ['--event <event>', 'Events of this name, such as login'],
  ['--actor <actor>', 'Events that this user or admin token caused: address or id'],
  ['--since <time>', 'Events since then, such as 7d or 2030-01-31'],
] as const

export const audit = defineCommand({
  example: 'latchkey audit --user ann@example.org --since 7d',
  options: [...filterOptions, ...listOptions],
  async run({ output, home }, options) {
    const opened = await home()
    const page = await opened.listAudit({ ...(await auditQuery(opened, options)), ...pageInput(options) })
    printPage(output, page, columns)
  },
})

function actorOf(actor: Actor | null): string {
  if (actor === null) return ''
  if (actor.kind === 'user')
    return actor.impersonating === null ? actor.userId : `${actor.userId} as ${actor.impersonating}`
  if (actor.kind === 'adminToken') return `token ${actor.tokenId}`
  return actor.kind === 'tool' ? `tool ${actor.osUser}` : actor.kind
}

export const auditVerify = defineCommand({
  example: 'latchkey audit verify',
  async run({ output, home }) {
    const verdict = await (await home()).verifyAudit()
    if (!verdict.ok) {
      const at = verdict.brokenAt === null ? 'no event is left' : `at the event ${verdict.brokenAt}`
      throw new ToolError(1, 'audit_broken', `The audit log is broken: ${at}.`)
    }
    output.result(verdict, ['The audit log is unbroken.'])
  },
})

export const auditExport = defineCommand({
  example: 'latchkey audit export -f audit.jsonl --since 30d',
  options: [...filterOptions, ...exportOptions],
  async run(tool, { file, force, ...filter }) {
    const opened = await tool.home()
    await exportRecords(
      tool,
      { file, force },
      { title: 'events', records: opened.exportAudit(await auditQuery(opened, filter)) },
    )
  },
})

/** An address becomes the id of its account; a removed account is found by its id only. */
async function auditQuery(
  home: Home,
  { user, event, actor, since }: OptionsOf<typeof filterOptions>,
): Promise<AuditQuery> {
  const idOf = async (text: string) => (text.includes('@') ? (await accountOf(home, text)).id : text)
  return {
    ...(user !== undefined && { userId: await idOf(user) }),
    ...(event !== undefined && { event }),
    ...(actor !== undefined && { actor: await idOf(actor) }),
    ...(since !== undefined && { from: pastTime(since, '--since') }),
  }
}
