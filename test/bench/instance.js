// One of several processes over one database. Does what its parent asks: open, signIn, createTokens, account, revoke.
import { randomUUID } from 'node:crypto'
import { createServer } from 'node:http'
import { init } from '../../dist/index.js'
import { plain } from './peers/frameworks.js'
import { configuration } from './peers/latchkey-settings.js'

const server = createServer()
const account = { email: `ada-${randomUUID()}@example.com`, password: `difference-engine-${randomUUID()}` }
let auth

const deeds = {
  /** All instances are one site, whatever port each has. `administered`: the account of `signIn` is an administrator's. */
  async open({ database, secrets: [access, refresh], administered = false, limits = {} }) {
    const common = configuration('http://localhost:3000', '')
    const admin = { emails: administered ? [account.email] : [] }
    const settings = { ...common, database, admin, limits: { ...common.limits, ...limits } }
    auth = init(server, { ...settings, JWT_ACCESS_TOKEN_SECRET: access, JWT_REFRESH_TOKEN_SECRET: refresh })
    server.on('request', plain)
    await auth.ready()
    await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve))
    return { baseUrl: `http://127.0.0.1:${server.address().port}` }
  },
  async signIn() {
    if (!(await auth.users.findByEmail(account.email))) await auth.users.create({ ...account, emailVerified: true })
    const response = await fetch(`http://127.0.0.1:${server.address().port}/auth/login`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-auth-mode': 'token' },
      body: JSON.stringify(account),
    })
    const { accessToken, session } = await response.json()
    return { accessToken, sessionId: session.id }
  },
  async createTokens(count) {
    const tokens = []
    while (tokens.length < count) {
      const { id, token } = await auth.apiTokens.create({ name: 'bench' })
      tokens.push({ id, token })
    }
    return tokens
  },
  account: () => account,
  async revoke(sessionId) {
    await auth.sessions.revoke(sessionId)
    return 'ended'
  },
}

process.on('message', async (asked) => {
  const [[deed, given]] = Object.entries(asked)
  process.send(await deeds[deed](given))
})
process.on('disconnect', async () => {
  await auth?.close()
  process.exit()
})
process.send('ready')
