import type { Address } from '../address.js'
import type { AuditQuery, PageInput, RemoteHome } from '../home.js'
import { ToolError } from '../tool-error.js'
import {
  readAccessReport,
  readAccessView,
  readAccount,
  readApiToken,
  readAuditLine,
  readAuditVerdict,
  readCreatedApiToken,
  readDescription,
  readDoctorReport,
  readKeySetCheck,
  readMailLine,
  readPage,
  readSession,
  readUserReport,
} from './answers.js'
import { type Call, type Client, path } from './client.js'
import { notOurs, readAnswer } from './send.js'

/** Of one answer of `/audit.jsonl`, which holds at most 10,000 rows. */
const exportBytes = 64 * 1024 * 1024

/** Of accounts whose address has the sought one in it. */
const mostPages = 50

/** The application behind a control API. Each member is one route. */
export function createRemoteHome(client: Client, address: Address): RemoteHome {
  const done = async (call: Call): Promise<void> => {
    await client.answer(call)
  }
  return {
    mode: 'remote',
    target: `remote ${address.site} as ${client.email}`,
    describe: () => describe(client, address),
    ...tokenCalls(client, done),
    ...accessCalls(client, done),
    ...userCalls(client, address, done),
    ...auditCalls(client, address),
    ...runningCalls(client, done),
    async networkTarget() {
      const headers = await client.credential()
      return { auth: address.auth, credential: () => headers, installationId: null }
    },
    close: async () => {},
  }
}

type Done = (call: Call) => Promise<void>

async function describe(client: Client, { site }: Address) {
  try {
    return await client.call({ method: 'GET', path: '/' }, (fields) => readDescription(fields, site))
  } catch (error) {
    if (!(error instanceof ToolError) || error.details.status !== 404) throw error
    throw new ToolError(4, 'not_here', `${site} has no control API. Set admin.emails in its settings.`)
  }
}

function tokenCalls(client: Client, done: Done) {
  return {
    createApiToken: (body) => client.call({ method: 'POST', path: '/tokens', body }, readCreatedApiToken),
    listApiTokens: (page) =>
      client.call({ method: 'GET', path: '/tokens', query: pageQuery(page) }, (fields) =>
        readPage(fields, readApiToken),
      ),
    removeApiToken: (id) => done({ method: 'DELETE', path: path('tokens', id) }),
    rotateApiToken: (id, body) =>
      client.call({ method: 'POST', path: path('tokens', id, 'rotate'), body }, readCreatedApiToken),
  } satisfies Partial<RemoteHome>
}

function accessCalls(client: Client, done: Done) {
  return {
    readAccess: () => client.call({ method: 'GET', path: '/access' }, readAccessReport),
    checkKeySet: (url) => client.call({ method: 'POST', path: '/access/jwks/check', body: { url } }, readKeySetCheck),
    setKeySet: (url) => client.call({ method: 'POST', path: '/access/jwks', body: { url } }, readAccessView),
    allowNetwork: (body) => client.call({ method: 'POST', path: '/access/networks', body }, readAccessView),
    disallowNetwork: (body) => done({ method: 'DELETE', path: '/access/networks', body }),
  } satisfies Partial<RemoteHome>
}

function userCalls(client: Client, { site }: Address, done: Done) {
  const readUser = (id: string) => client.call({ method: 'GET', path: path('users', id) }, readUserReport)
  const listUsers: RemoteHome['listUsers'] = ({ query, role, state, ...page }) =>
    client.call({ method: 'GET', path: '/users', query: { query, role, state, ...pageQuery(page) } }, (fields) =>
      readPage(fields, readAccount),
    )
  return {
    listUsers,
    readUser,
    async findUser(addressOrId) {
      if (!addressOrId.includes('@')) return (await orNull(readUser(addressOrId)))?.account ?? null
      const sought = addressOrId.trim().toLowerCase()
      let page: PageInput = {}
      for (let left = mostPages; left > 0; left -= 1) {
        const { items, nextCursor } = await listUsers({ query: addressOrId.trim(), limit: 200, ...page })
        const found = items.find(({ email }) => email.toLowerCase() === sought)
        if (found || nextCursor === null) return found ?? null
        page = { cursor: nextCursor }
      }
      throw notOurs(site, `more than ${mostPages} pages`)
    },
    createUser: (body) => client.call({ method: 'POST', path: '/users', body }, readAccount),
    disableUser: (id, body) => client.call({ method: 'POST', path: path('users', id, 'disable'), body }, readAccount),
    enableUser: (id) => client.call({ method: 'POST', path: path('users', id, 'enable') }, readAccount),
    deleteUser: (id, confirm) => done({ method: 'DELETE', path: path('users', id), body: { confirm } }),
    resetPassword: (id) => done({ method: 'POST', path: path('users', id, 'reset-password') }),
    endUserSessions: (id) => done({ method: 'DELETE', path: path('users', id, 'sessions') }),
    removeTwoFactor: (id) => done({ method: 'DELETE', path: path('users', id, 'two-factor') }),
  } satisfies Partial<RemoteHome>
}

function auditCalls(client: Client, address: Address) {
  return {
    listAudit: ({ limit, cursor, ...filter }) =>
      client.call({ method: 'GET', path: '/audit', query: { ...filter, limit, cursor } }, (fields) =>
        readPage(fields, readAuditLine),
      ),
    exportAudit: (filter) => exportAudit(client, address, filter),
    verifyAudit: () => client.call({ method: 'POST', path: '/audit/verify' }, readAuditVerdict),
  } satisfies Partial<RemoteHome>
}

/** What needs a running application. */
function runningCalls(client: Client, done: Done) {
  return {
    listSessions: (page) =>
      client.call({ method: 'GET', path: '/sessions', query: pageQuery(page) }, (fields) =>
        readPage(fields, readSession),
      ),
    endSession: (id) => done({ method: 'DELETE', path: path('sessions', id) }),
    listMail: ({ state, ...page }) =>
      client.call({ method: 'GET', path: '/mail', query: { state, ...pageQuery(page) } }, (fields) =>
        readPage(fields, readMailLine),
      ),
    retryMail: (id) => done({ method: 'POST', path: path('mail', id, 'retry') }),
    dropMail: (id) => done({ method: 'DELETE', path: path('mail', id) }),
    readDoctor: () => client.call({ method: 'GET', path: '/doctor' }, readDoctorReport),
  } satisfies Partial<RemoteHome>
}

async function* exportAudit(client: Client, { site }: Address, filter: AuditQuery): AsyncGenerator<object> {
  let cursor: string | null = null
  do {
    const query = { ...filter, ...(cursor !== null && { cursor }) }
    const answer = await client.answer({ method: 'GET', path: '/audit.jsonl', query, limitBytes: exportBytes })
    for (const line of answer.text.split('\n')) {
      if (line !== '') yield readAnswer({ text: line }, site, (fields) => ({ ...fields, id: readAuditLine(fields).id }))
    }
    const next: string | null = answer.header('x-next-cursor')
    if (next !== null && next === cursor) throw notOurs(site, 'the same cursor twice')
    cursor = next
  } while (cursor !== null)
}

function pageQuery({ limit, cursor }: PageInput) {
  return { limit, cursor }
}

/** Null where the server knows no such thing. */
async function orNull<T>(found: Promise<T>): Promise<T | null> {
  try {
    return await found
  } catch (error) {
    if (error instanceof ToolError && error.details.status === 404) return null
    throw error
  }
}
