import { defineCommand } from '../command.js'
import type { RemoteHome, SessionLine } from '../home.js'
import { accountOf } from './account.js'
import { type Columns, listOptions, pageInput, printPage } from './lists.js'
import { shortTime } from './units.js'

const columns: Columns<SessionLine> = {
  ID: ({ id }) => id,
  USER: ({ userId, email }) => email ?? userId,
  DEVICE: ({ device }) => device,
  IP: ({ ip }) => ip,
  CREATED: ({ createdAt }) => shortTime(createdAt, ''),
  'LAST SEEN': ({ lastSeenAt }) => shortTime(lastSeenAt, ''),
}

export const sessions = defineCommand({
  example: 'latchkey sessions ann@example.org',
  arguments: [['[user]', 'address or id; without one, the sessions of all users']],
  options: listOptions,
  async run({ output, remoteHome }, user, options) {
    const home = await remoteHome()
    const page = user === undefined ? await home.listSessions(pageInput(options)) : await sessionsOf(home, user)
    printPage(output, page, columns)
  },
})

async function sessionsOf(home: RemoteHome, user: string) {
  const { account, sessions } = await home.readUser((await accountOf(home, user)).id)
  return { items: sessions.map((each) => ({ ...each, email: account.email })), nextCursor: null }
}

export const endSession = defineCommand({
  example: 'latchkey sessions end 0zRC4w1Yh6eTqv9bX2kLmA',
  arguments: [['<id>', 'as latchkey sessions prints it']],
  async run({ output, remoteHomeToChange }, id) {
    await (await remoteHomeToChange()).endSession(id)
    output.result({ id, ended: true }, ["Session ended. Use 'latchkey sessions' to see all sessions."])
  },
})
