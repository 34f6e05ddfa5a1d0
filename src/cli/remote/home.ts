import { textIn } from '../../lib/json-fields.js'
import { parseActor } from '../../model/actor.js'
import type { Address } from '../address.js'
import type { AuditLine, AuditQuery, PageInput, RemoteHome, SpaceSummary } from '../home.js'
import { ToolError } from '../tool-error.js'
import type { Client } from './calls.js'
import { createRun, type Run } from './contract-calls.js'
import { contract } from './contract-table.js'
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
  const run = createRun(client, address, scope.below)
  return {
    mode: 'remote',
    target: `remote ${address.site} ${client.caller}`,
    describe: scope.describe,
    space: scope.space,
    readSpace: () => readSpace(run, scope),
    ...tokenCalls(run),
    ...accessCalls(run),
    ...userCalls(run, address),
    ...auditCalls(run, client, address),
    ...runningCalls(run),
    async networkTarget() {
      const headers = await client.credential()
      return { auth: address.auth, credential: () => headers, installationId: null }
    },
    close: async () => {},
  }
}

async function readSpace(run: Run, { describe, space }: Scope): Promise<SpaceSummary | null> {
  const name = await space()
  if (name === null) return null
  const { spaces = [] } = await describe()
  const { items } = await run(contract.environment.list, {}, { name: true })
  const environment = items.map((variable) => variable.name)
  return { ...(spaces.find((each) => each.name === name) ?? { name, url: null, release: null }), environment }
}

function tokenCalls(run: Run) {
  const { create, list, remove, rotate } = contract.apiTokens
  return {
    createApiToken: (body) => run(create, { body }),
    listApiTokens: (query) => run(list, { query }),
    removeApiToken: (id) => run(remove, { params: { id } }),
    rotateApiToken: (id, body) => run(rotate, { params: { id }, body }),
  } satisfies Partial<RemoteHome>
}

const accessFields = { jwksUrl: true, fixedJwksUrl: true, allowList: true } as const

function accessCalls(run: Run) {
  const { read, checkKeySet, setSpaceKeySet, allow, disallow } = contract.access
  return {
    async readAccess() {
      const { you, ...report } = await run(read, {}, { ...accessFields, you: true, keySet: true })
      return { ...report, you: you.ip === null ? null : { ip: you.ip, allowed: you.allowed } }
    },
    checkKeySet: (url) => run(checkKeySet, { body: { url } }),
    setKeySet: (url) => run(setSpaceKeySet, { body: { url } }, accessFields),
    allowNetwork: (body) => run(allow, { body }, accessFields),
    disallowNetwork: (body) => run(disallow, { body }),
  } satisfies Partial<RemoteHome>
}

const sessionFields = {
  id: true,
  userId: true,
  email: 'or null',
  device: 'or null',
  ip: true,
  createdAt: true,
  lastSeenAt: 'or null',
} as const

function userCalls(run: Run, { site }: Address) {
  const { users, sessions } = contract
  const listUsers: RemoteHome['listUsers'] = (query) => run(users.list, { query })
  const readUser: RemoteHome['readUser'] = async (id) => {
    const report = await run(users.read, { params: { id } }, { account: true, sessions: sessionFields, events: true })
    return {
      ...report,
      sessions: report.sessions.map((each) => ({ ...each, email: null })),
      events: report.events.map(withActor),
    }
  }
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
    createUser: (body) => run(users.create, { body }),
    disableUser: (id, body) => run(users.disable, { params: { id }, body }),
    enableUser: (id) => run(users.enable, { params: { id } }),
    deleteUser: (id, confirm) => run(users.remove, { params: { id }, body: { confirm } }),
    async resetPassword(id) {
      await run(users.resetPassword, { params: { id } }, {})
    },
    endUserSessions: (id) => run(sessions.endAllOfUser, { params: { id } }),
    removeTwoFactor: (id) => run(users.removeTwoFactor, { params: { id } }),
  } satisfies Partial<RemoteHome>
}

function auditCalls(run: Run, client: Client, address: Address) {
  const { list, verify } = contract.audit
  return {
    async listAudit(query) {
      const { items, nextCursor } = await run(list, { query })
      return { items: items.map(withActor), nextCursor }
    },
    exportAudit: (filter) => exportAudit(client, address, filter),
    verifyAudit: () => run(verify),
  } satisfies Partial<RemoteHome>
}

/** What needs a running application. */
function runningCalls(run: Run) {
  const { sessions, mail, doctor } = contract
  return {
    listSessions: (query) => run(sessions.list, { query }, sessionFields),
    endSession: (id) => run(sessions.end, { params: { id } }),
    listMail: (query) => run(mail.list, { query }),
    retryMail: (id) => run(mail.retry, { params: { id } }),
    dropMail: (id) => run(mail.drop, { params: { id } }),
    async readDoctor() {
      const { checkedAt, checks } = await run(doctor.read)
      return { checkedAt, checks: checks.map((each) => ({ ...each, level: each.level === 'warn' ? 'warn' : 'error' })) }
    },
  } satisfies Partial<RemoteHome>
}

async function* exportAudit(client: Client, { site }: Address, filter: AuditQuery): AsyncGenerator<object> {
  const { method, path } = contract.audit.export
  let cursor: string | null = null
  do {
    const query = { ...filter, ...(cursor !== null && { cursor }) }
    const answer = await client.answer({ method, path, query, limitBytes: exportBytes })
    for (const line of answer.text.split('\n')) {
      if (line !== '') yield readAnswer({ text: line }, site, (fields) => ({ ...fields, id: textIn(fields, 'id') }))
    }
    const next: string | null = answer.header('x-next-cursor')
    if (next !== null && next === cursor) throw notOurs(site, 'the same cursor twice')
    cursor = next
  } while (cursor !== null)
}

function withActor<Line extends object>(line: Line & { actor: unknown }): Line & Pick<AuditLine, 'actor'> {
  return { ...line, actor: line.actor === null ? null : parseActor(JSON.stringify(line.actor)) }
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
