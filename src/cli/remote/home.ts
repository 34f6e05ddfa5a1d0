import { listIn, textIn } from '../../lib/json-fields.js'
import type { Address } from '../address.js'
import type { AuditQuery, PageInput, RemoteHome, SpaceSummary } from '../home.js'
import { ToolError } from '../tool-error.js'
import {
  readAccessReport,
  readAccessView,
  readAccount,
  readApiToken,
  readAuditLine,
  readAuditVerdict,
  readCreatedApiToken,
  readDoctorReport,
  readKeySetCheck,
  readMailLine,
  readPage,
  readSession,
  readUserReport,
} from './answers.js'
import { type Call, type Client, path } from './calls.js'
import { createScope, type Scope } from './scope.js'
import { notOurs, readAnswer } from './send.js'

/** Of one answer of `/audit.jsonl`, which holds at most 10,000 rows. */
const exportBytes = 64 * 1024 * 1024

/** Of accounts whose address has the sought one in it. */
const mostPages = 50

/**
 * The application, or a space of a host, behind a control API. Each member is one route.
 *
 * @param chooseSpace asked when the home is a host
 */
export function createRemoteHome(client: Client, address: Address, chooseSpace: () => string): RemoteHome {
  const scope = createScope(client, address, chooseSpace)
  const done = async (call: Call): Promise<void> => {
    await client.answer(call)
  }
  return {
    mode: 'remote',
    target: `remote ${address.site} ${client.caller}`,
    describe: scope.describe,
    space: scope.space,
    readSpace: () => readSpace(client, scope),
    ...tokenCalls(client, scope, done),
    ...accessCalls(client, scope, done),
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

async function readSpace(client: Client, { describe, space }: Scope): Promise<SpaceSummary | null> {
  const name = await space()
  if (name === null) return null
  const { spaces = [] } = await describe()
  const target = `${path('spaces', name)}/env`
  const environment = await client.call({ method: 'GET', path: target }, (fields) =>
    listIn(fields, 'items', (item) => textIn(item, 'name')),
  )
  return { ...(spaces.find((each) => each.name === name) ?? { name, url: null, release: null }), environment }
}

function tokenCalls(client: Client, { below }: Scope, done: Done) {
  return {
    createApiToken: async (body) =>
      client.call({ method: 'POST', path: await below('/tokens'), body }, readCreatedApiToken),
    listApiTokens: async (page) =>
      client.call({ method: 'GET', path: await below('/tokens'), query: pageQuery(page) }, (fields) =>
        readPage(fields, readApiToken),
      ),
    removeApiToken: async (id) => done({ method: 'DELETE', path: await below(path('tokens', id)) }),
    rotateApiToken: async (id, body) =>
      client.call({ method: 'POST', path: await below(path('tokens', id, 'rotate')), body }, readCreatedApiToken),
  } satisfies Partial<RemoteHome>
}

function accessCalls(client: Client, { below }: Scope, done: Done) {
  return {
    readAccess: async () => client.call({ method: 'GET', path: await below('/access') }, readAccessReport),
    checkKeySet: async (url) =>
      client.call({ method: 'POST', path: await below('/access/jwks/check'), body: { url } }, readKeySetCheck),
    setKeySet: async (url) =>
      client.call({ method: 'POST', path: await below('/access/jwks'), body: { url } }, readAccessView),
    allowNetwork: async (body) =>
      client.call({ method: 'POST', path: await below('/access/networks'), body }, readAccessView),
    disallowNetwork: async (body) => done({ method: 'DELETE', path: await below('/access/networks'), body }),
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
