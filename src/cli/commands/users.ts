import type { ImportedRecord, ImportReport } from '../../model/imported-account.js'
import { type CommandFile, defineCommand, repeated } from '../command.js'
import { exportOptions, exportRecords } from '../files/exported-records.js'
import { readRecordLines } from '../files/record-lines.js'
import type { Account, Home, UserReport } from '../home.js'
import { aligned } from '../output.js'
import { startProgress } from '../progress.js'
import type { Tool } from '../tool.js'
import { ToolError } from '../tool-error.js'
import { accountOf, isDisabledNow, stateOf } from './account.js'
import { type Columns, listOptions, pageInput, printPage } from './lists.js'
import { futureTime, shortTime } from './units.js'

const columns: Columns<Account> = {
  ID: ({ id }) => id,
  EMAIL: addressOf,
  NAME: ({ name }) => name,
  ROLES: ({ roles }) => roles.join(' '),
  STATE: stateOf,
  'LAST LOGIN': ({ lastLoginAt }) => shortTime(lastLoginAt, 'never'),
}

const user = ['<user>', 'address or id'] as const

export const users = defineCommand({
  example: 'latchkey users --query ann',
  options: [
    ...listOptions,
    ['--query <text>', 'Part of the address or the name'],
    ['--role <role>', 'Only accounts that have this role'],
  ],
  async run({ output, home }, { limit, cursor, ...filter }) {
    const query = { ...pageInput({ limit, cursor }), ...filter }
    printPage(output, await (await home()).listUsers(query), columns)
  },
})

function addressOf({ email, emailVerified }: Account): string {
  return emailVerified ? email : `${email} (not verified)`
}

export const showUser = defineCommand({
  example: 'latchkey users show ann@example.org',
  arguments: [user],
  async run({ output, home }, user) {
    const opened = await home()
    const report = await opened.readUser((await accountOf(opened, user)).id)
    output.result(report, linesOf(report))
  },
})

function linesOf({ account, sessions, events }: UserReport): string[] {
  const reason = isDisabledNow(account) ? account.disabledReason : null
  const { id, name, roles, twoFactor, createdAt, lastLoginAt, identities } = account
  return [
    ...aligned([
      ['Id', id],
      ['Email', addressOf(account)],
      ['Name', name ?? 'none'],
      ['Roles', roles.join(' ') || 'none'],
      ['State', reason === null ? stateOf(account) : `${stateOf(account)} (${reason})`],
      ['Two-factor', twoFactor ? 'on' : 'off'],
      ['Identities', identities.map(({ provider }) => provider).join(' ') || 'none'],
      ['Created', shortTime(createdAt, '')],
      ['Last login', shortTime(lastLoginAt, 'never')],
    ]),
    '',
    `Sessions: ${sessions.length}`,
    ...aligned(
      sessions.map((each) => [`  ${each.id}`, each.device ?? '', each.ip ?? '', shortTime(each.lastSeenAt, '')]),
    ),
    '',
    `Last events: ${events.length}`,
    ...aligned(events.map((each) => [`  ${shortTime(each.at, '')}`, each.event, each.outcome, each.ip ?? ''])),
  ]
}

export const createUser = defineCommand({
  example: 'latchkey users create ann@example.org --role EDITOR',
  arguments: [['<address>', 'email address of the new account']],
  options: [
    ['--name <name>', 'The name to show'],
    ['--role <role>', 'A role of the account; may be repeated', { parse: repeated }],
    ['--no-invite', 'Mail no invitation to set a password'],
  ],
  async run({ output, homeToChange }, email, { name, role, invite }) {
    const user = { email, invite, ...(name !== undefined && { name }), ...(role !== undefined && { roles: role }) }
    const account = await (await homeToChange()).createUser(user)
    const mailed = invite ? ' An invitation goes to that address.' : ''
    output.result(account, [`Created account ${account.email} with id ${account.id}.${mailed}`])
  },
})

export const disableUser = defineCommand({
  example: "latchkey users disable ann@example.org --reason 'chargeback' --until 7d",
  arguments: [user],
  options: [
    ['--reason <text>', 'Why, for the audit log'],
    ['--until <time>', 'When it is enabled again, such as 7d or 2030-01-31 (default: never)'],
  ],
  async run({ output, prompts, homeToChange }, user, options) {
    const until = options.until === undefined ? {} : { until: futureTime(options.until, '--until') }
    const home = await homeToChange()
    const { id } = await accountOf(home, user)
    const reason = options.reason ?? (await prompts.text('Why is the account disabled?', '--reason <text>'))
    const account = await home.disableUser(id, { reason, ...until })
    output.result(account, [`Account ${account.email} is ${stateOf(account)}. Its sessions have ended.`])
  },
})

export const deleteUser = defineCommand({
  example: 'latchkey users delete ann@example.org',
  arguments: [user],
  options: [['--confirm <address>', 'The address of the account, instead of typing it']],
  async run({ output, prompts, homeToChange }, user, { confirm }) {
    const home = await homeToChange()
    const { id, email } = await accountOf(home, user)
    const typed = await prompts.name(
      `This deletes the account ${email} with all its data. It cannot be undone.`,
      email,
      confirm,
    )
    await home.deleteUser(id, typed)
    output.result({ id, email, deleted: true }, [`Account ${email} is deleted.`])
  },
})

export const enableUser = defineCommand({
  example: 'latchkey users enable ann@example.org',
  arguments: [user],
  async run({ output, homeToChange }, name) {
    const home = await homeToChange()
    const account = await home.enableUser((await accountOf(home, name)).id)
    output.result(account, [`Account ${account.email} is enabled.`])
  },
})

export const resetPassword = defineChange('reset-password', {
  ask: (email) => `Every session of ${email} ends, and its password no longer works until it is reset.`,
  change: (home, id) => home.resetPassword(id),
  done: (email) => `A link to set a new password goes to ${email}.`,
})

export const endSessions = defineChange('end-sessions', {
  change: (home, id) => home.endUserSessions(id),
  done: (email) => `Every session of ${email} has ended.`,
})

export const removeTwoFactor = defineChange('remove-two-factor', {
  ask: (email) => `Anyone who knows the password of ${email} can sign in then. Make sure that the owner asks.`,
  change: (home, id) => home.removeTwoFactor(id),
  done: (email) => `Two-factor authentication of ${email} is off, and its sessions have ended.`,
})

interface Change {
  /** What the person has to agree to. */
  ask?(email: string): string
  change(home: Home, id: string): Promise<void>
  done(email: string): string
}

/** A command that changes one account and answers with no more than that. */
function defineChange(name: string, { ask, change, done }: Change): CommandFile {
  return defineCommand({
    example: `latchkey users ${name} ann@example.org`,
    arguments: [user],
    async run({ output, prompts, homeToChange }, addressOrId) {
      const home = await homeToChange()
      const { id, email } = await accountOf(home, addressOrId)
      if (ask) await prompts.agree(ask(email))
      await change(home, id)
      output.result({ id, email, done: true }, [done(email)])
    },
  })
}

/** What became of a record, by its line instead of its index. */
type LineOutcome = Omit<ImportedRecord, 'index'> & { line: number }

export const importUsers = defineCommand({
  example: 'latchkey users import accounts.jsonl',
  arguments: [['<file>', 'records as auth.users.import takes them, as JSONL or a JSON list; - for stdin']],
  async run(tool, file) {
    const { environment, output } = tool
    const home = await tool.localHomeToChange()
    const progress = await startProgress(environment, 'Importing', output.json)
    const lines: number[] = []
    async function* records() {
      for await (const { line, record } of readRecordLines(environment, file)) {
        lines.push(line)
        yield record
        progress.step(`Read ${lines.length} records`)
      }
    }
    const report = await home.importUsers(records()).finally(progress.stop)
    show(tool, report, lines)
  },
})

/** @throws {ToolError} `partly_done`, with a line for each record that failed */
function show({ output }: Tool, { items, ...counts }: ImportReport, lines: readonly number[]): void {
  const outcomes = items.map(({ index, ...item }) => ({ line: lines[index] ?? index + 1, ...item }))
  const { created, skipped, failed, bcryptHashes = 0 } = counts
  output.result({ ...counts, items: outcomes }, [`Created ${created}, skipped ${skipped}, failed ${failed}.`])
  for (const { line, status } of outcomes) {
    if (status === 'skipped') output.note(`  line ${line}: skipped, its address has an account`)
  }
  if (bcryptHashes > 0) output.note(`${bcryptHashes} bcrypt hashes cover only the first 72 bytes of a password.`)
  const faults = outcomes.filter(({ status }) => status === 'failed').map(faultOf)
  if (faults.length > 0) throw new ToolError(6, 'partly_done', `Records that failed: ${failed}`, { lines: faults })
}

function faultOf({ line, code, path }: LineOutcome): string {
  if (code === 'invalid_request' && path === undefined) return `  line ${line}: no JSON object`
  return `  line ${line}: ${[path, code].filter(Boolean).join(': ')}`
}

export const exportUsers = defineCommand({
  example: 'latchkey users export -f accounts.jsonl',
  options: exportOptions,
  async run(tool, target) {
    const records = (await tool.localHomeToChange()).exportUsers()
    await exportRecords(tool, target, { title: 'accounts', records, note: ' It holds password hashes: keep it safe.' })
  },
})
