import type { Command } from 'commander'
import type { RemoteHome, SessionLine } from '../../home.js'
import type { Tool } from '../../tool.js'
import { accountOf } from '../account.js'
import { type ListOptions, noteMore, pageInput, withListOptions } from '../lists.js'
import { shortTime } from '../times.js'

const headings = ['ID', 'USER', 'DEVICE', 'IP', 'CREATED', 'LAST SEEN']

export const example = 'latchkey sessions ann@example.org'

export function define(command: Command, open: () => Tool): void {
  withListOptions(command)
    .argument('[user]', 'address or id; without one, the sessions of all users')
    .action(async (user: string | undefined, options: ListOptions) => {
      const { output, remoteHome } = open()
      const home = await remoteHome()
      const page = user === undefined ? await home.listSessions(pageInput(options)) : await sessionsOf(home, user)
      output.table(page, headings, page.items.map(rowOf))
      noteMore(output, page.nextCursor)
    })
}

async function sessionsOf(home: RemoteHome, user: string) {
  const { account, sessions } = await home.readUser((await accountOf(home, user)).id)
  return { items: sessions.map((each) => ({ ...each, email: account.email })), nextCursor: null }
}

function rowOf({ id, userId, email, device, ip, createdAt, lastSeenAt }: SessionLine): string[] {
  return [id, email ?? userId, device ?? '', ip ?? '', shortTime(createdAt, ''), shortTime(lastSeenAt, '')]
}
