import { describe, expect, test } from 'vitest'
import { AuthError } from '../../src/errors.js'
import type { ApiTokenRecord } from '../../src/model/api-token.js'
import { toApiToken, toApiTokenRow } from '../../src/store/api-tokens.js'
import { toEvent } from '../../src/store/audit/rows.js'
import { parseRecord } from '../../src/store/datastore/engine/queue-record.js'
import { toSession, toSessionRow } from '../../src/store/session-rows.js'
import { toUser, toUserRow } from '../../src/store/user-rows.js'
import { aSession, aUser } from '../contracts/store/rows.js'

const userRow = toUserRow(aUser())
const sessionRow = toSessionRow(aSession('user-1'), { ordinal: () => 1 })
const token: ApiTokenRecord = {
  id: 'token-1',
  tokenHash: 'hash',
  name: 'backup job',
  access: 'READ',
  cidrs: ['10.0.0.0/8'],
  createdAt: 10,
  expiresAt: null,
  lastUsedAt: null,
  replacedBy: null,
}
const tokenRow = toApiTokenRow(token, '')
const eventRow = {
  id: 'event-1',
  seq: 1,
  at_ms: 1,
  event: 'login',
  outcome: 'success',
  user_id: null,
  session_id: null,
  ip: null,
  user_agent: null,
  actor: null,
  actor_id: null,
  detail: '{"method":"password"}',
  hash: '',
  mac: '',
} as const

function codeOf(read: () => unknown): string | undefined {
  try {
    read()
  } catch (error) {
    return error instanceof AuthError ? error.code : String(error)
  }
  return undefined
}

describe('a JSON column of another shape is store_unavailable', () => {
  test.each(['', 'no JSON', 'null', '"admin"', '{"0":"admin"}', '[7]'])('roles, amr or cidrs that hold %s', (text) => {
    expect(codeOf(() => toUser({ ...userRow, roles: text }))).toBe('store_unavailable')
    expect(codeOf(() => toSession({ ...sessionRow, amr: text }))).toBe('store_unavailable')
    expect(codeOf(() => toApiToken({ ...tokenRow, cidrs: text }))).toBe('store_unavailable')
  })

  test.each(['', 'null', '[]', '"plan"'])('extra fields that hold %s', (text) => {
    expect(codeOf(() => toUser({ ...userRow, fields: text }))).toBe('store_unavailable')
  })

  test.each(['null', '{}', '["google"]', '[{"provider":"google"}]', '[{"provider":1,"linkedAt":1}]'])(
    'identities that hold %s',
    (text) => {
      expect(codeOf(() => toUser({ ...userRow, identities: text }))).toBe('store_unavailable')
    },
  )

  test.each(['null', '[]', '{"method":null}', '{"method":{}}'])('a detail that holds %s', (text) => {
    expect(codeOf(() => toEvent({ ...eventRow, detail: text }))).toBe('store_unavailable')
  })
})

test('rows as the stores write them are read', () => {
  expect(toUser(userRow)).toMatchObject({ id: userRow.id })
  expect(toSession(sessionRow)).toMatchObject({ userId: 'user-1' })
  expect(toApiToken(tokenRow)).toMatchObject({ cidrs: ['10.0.0.0/8'] })
  expect(toEvent(eventRow)).toMatchObject({ detail: { method: 'password' } })
})

describe('the record of a queue', () => {
  const record = {
    turn: 3,
    held: true,
    journals: 2,
    journal: {
      id: 'journal-1',
      writes: [
        { collection: 'users', key: 'a', ids: ['1'], row: { id: 'a', version: 1, name: null } },
        { collection: 'changes', key: 'b', ids: [], row: null, last: true },
      ],
    },
    replayed: ['journal-0'],
    clockMs: 5,
  }

  test('is read as it was written', () => {
    expect(parseRecord(JSON.stringify(record))).toEqual(record)
    expect(parseRecord(JSON.stringify({ ...record, journal: null }))).toEqual({ ...record, journal: null })
    expect(parseRecord(null)).toMatchObject({ turn: 0, held: false, journal: null })
  })

  test.each([
    'no JSON',
    '{}',
    JSON.stringify({ ...record, turn: '3' }),
    JSON.stringify({ ...record, journal: {} }),
    JSON.stringify({ ...record, journal: { id: 'journal-1', writes: [{ collection: 'users' }] } }),
    JSON.stringify({
      ...record,
      journal: { id: 'j', writes: [{ collection: 'users', key: 'a', ids: [], row: { id: { $ne: 1 } } }] },
    }),
  ])('stops the queue when it is %s', (text) => {
    expect(() => parseRecord(text)).toThrow('database: the record of a queue cannot be read.')
  })
})
