import type { Command } from 'commander'
import type { UserReport } from '../../home.js'
import { aligned } from '../../output.js'
import type { Tool } from '../../tool.js'
import { accountOf, isDisabledNow, stateOf } from '../account.js'
import { shortTime } from '../times.js'

export const example = 'latchkey users show ann@example.org'

export function define(command: Command, open: () => Tool): void {
  command.argument('<user>', 'address or id').action(async (user: string) => {
    const { output, home } = open()
    const opened = await home()
    const report = await opened.readUser((await accountOf(opened, user)).id)
    output.result(report, linesOf(report))
  })
}

function linesOf({ account, sessions, events }: UserReport): string[] {
  const reason = isDisabledNow(account) ? account.disabledReason : null
  const { id, email, emailVerified, name, roles, twoFactor, createdAt, lastLoginAt, identities } = account
  return [
    ...aligned([
      ['Id', id],
      ['Email', emailVerified ? email : `${email} (not verified)`],
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
