import { describe, expect, test } from 'vitest'
import type { ApiTokenRecord } from '../../src/model/api-token.js'
import { linkedColumn, withIdentity } from '../../src/store/accounts/identity-rows.js'
import { rotatedToken } from '../../src/store/api-tokens.js'
import { failedColumns } from '../../src/store/outbox.js'
import { Refused, Taken, unlessTaken } from '../../src/store/refused.js'
import { forgottenBefore, isLive } from '../../src/store/session-rows.js'
import { surplus } from '../../src/store/surplus.js'
import { aUser } from '../contracts/store/rows.js'

describe('surplus', () => {
  test('leaves room for the new one', () => {
    expect(surplus(['c', 'b', 'a'], 3)).toEqual(['a'])
    expect(surplus(['c', 'b', 'a'], 4)).toEqual([])
    expect(surplus(['c', 'b', 'a'], 1)).toEqual(['c', 'b', 'a'])
  })

  test('takes all the others where none may stay', () => {
    expect(surplus(['b', 'a'], 0)).toEqual(['b', 'a'])
  })
})

describe('rotatedToken', () => {
  const former: ApiTokenRecord = {
    id: 'token-1',
    tokenHash: 'hash-1',
    name: 'backup job',
    access: 'READ',
    cidrs: ['10.0.0.0/8'],
    createdAt: 10,
    expiresAt: 100,
    lastUsedAt: 15,
    replacedBy: null,
  }
  const replacement = {
    id: 'token-1',
    successor: { id: 'token-2', tokenHash: 'hash-2', createdAt: 20 },
    endsAt: 50,
    now: 20,
  }

  test('gives the successor the rights of the former token, and a life of its own', () => {
    expect(rotatedToken(former, replacement).successor).toEqual({
      ...former,
      id: 'token-2',
      tokenHash: 'hash-2',
      createdAt: 20,
      lastUsedAt: null,
    })
    expect(rotatedToken(former, { ...replacement, expiresAt: null }).successor.expiresAt).toBeNull()
  })

  test('ends the former token, and no later than it would have', () => {
    expect(rotatedToken(former, replacement).formerEndsAt).toBe(50)
    expect(rotatedToken({ ...former, expiresAt: null }, replacement).formerEndsAt).toBe(50)
    expect(rotatedToken({ ...former, expiresAt: 30 }, replacement).formerEndsAt).toBe(30)
  })
})

test('a failed mail is due again, or set aside for good', () => {
  const released = { last_reason: 'smtp_450', lease_id: null, lease_until: null }
  expect(failedColumns('smtp_450', 90)).toEqual({ ...released, next_attempt_at: 90 })
  expect(failedColumns('smtp_450', null)).toEqual({ ...released, set_aside: 1 })
})

test('the row of a user shows of an identity only provider and time', () => {
  const identity = { provider: 'google', subject: 'secret-id', userId: 'user-1', linkedAt: 50 }
  const user = aUser()
  expect(withIdentity(user, identity).identities).toEqual([{ provider: 'google', linkedAt: 50 }])
  expect(withIdentity(user)).toBe(user)
  const row = { provider: 'google', subject: 'secret-id', linked_at: 50 }
  expect(linkedColumn([row])).toBe('[{"provider":"google","linkedAt":50}]')
})

test('a session lives until its own end and that of its refresh token', () => {
  expect(isLive({ expires_at: 11, refresh_expires_at: 11 }, 10)).toBe(true)
  expect(isLive({ expires_at: 10, refresh_expires_at: 11 }, 10)).toBe(false)
  expect(isLive({ expires_at: 11, refresh_expires_at: 10 }, 10)).toBe(false)
})

test('a session is forgotten once no access token of it can live', () => {
  expect(forgottenBefore({ createdAt: 1_000, until: 1_300 })).toBe(700)
})

test('a refusal inside an attempt becomes its answer, and a fault stays one', async () => {
  const failing = (error: Error) => unlessTaken(() => Promise.reject(error))
  expect(await unlessTaken(async () => 'done')).toBe('done')
  expect(await failing(new Taken())).toBe('taken')
  expect(await failing(new Refused())).toBeNull()
  await expect(failing(new Error('disk full'))).rejects.toThrow('disk full')
})
