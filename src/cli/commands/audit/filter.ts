import type { Command } from 'commander'
import type { AuditQuery, Home } from '../../home.js'
import { accountOf } from '../account.js'
import { pastTime } from '../times.js'

export interface FilterOptions {
  user?: string
  event?: string
  actor?: string
  since?: string
}

export function withFilterOptions(command: Command): Command {
  return command
    .option('--user <user>', 'Events about this account: address or id')
    .option('--event <event>', 'Events of this name, such as login')
    .option('--actor <actor>', 'Events that this user or admin token caused: address or id')
    .option('--since <time>', 'Events since then, such as 7d or 2030-01-31')
}

/** An address becomes the id of its account; a removed account is found by its id only. */
export async function auditQuery(home: Home, { user, event, actor, since }: FilterOptions): Promise<AuditQuery> {
  const idOf = async (text: string) => (text.includes('@') ? (await accountOf(home, text)).id : text)
  return {
    ...(user !== undefined && { userId: await idOf(user) }),
    ...(event !== undefined && { event }),
    ...(actor !== undefined && { actor: await idOf(actor) }),
    ...(since !== undefined && { from: pastTime(since, '--since') }),
  }
}
