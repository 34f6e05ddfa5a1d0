import { describe, expect, test } from 'vitest'
import type { UserRecord } from '../../../src/model/user.js'
import {
  changedAddress,
  changedPassword,
  disabledAccount,
  enabledAccount,
  firstProof,
  profileColumns,
  replacedPassword,
  restoredAddress,
  updatedAccount,
} from '../../../src/store/accounts/changes.js'
import { toUser, toUserRow } from '../../../src/store/user-rows.js'

const user: UserRecord = {
  id: 'user-1',
  email: 'Ada@Example.com',
  emailCanonical: 'ada@example.com',
  emailVerified: false,
  verifiedBy: null,
  name: 'Ada',
  passwordHash: 'a hash',
  roles: ['editor'],
  fields: { plan: 'free' },
  version: 3,
  disabledAt: 70,
  disabledUntil: 90,
  disabledReason: 'chargeback',
  mustReset: false,
  factors: [{ kind: 'totp', sealedSecret: 'sealed', lastStep: 8, enabledAt: 60 }],
  identities: [{ provider: 'google', linkedAt: 50 }],
  createdAt: 40,
  lastLoginAt: 45,
}

describe('updatedAccount', () => {
  test('sets name and roles, and ends nothing', () => {
    const values = { name: null, roles: '["admin"]' }
    expect(updatedAccount({ name: null, roles: ['admin'] })).toEqual({ values, losses: {} })
  })

  test('leaves what is not given as it is', () => {
    expect(updatedAccount({})).toEqual({ values: {}, losses: {} })
  })

  test('takes the second factor with its codes, pending enrolments and every session', () => {
    const { judge, ...change } = updatedAccount({ name: 'Ada', twoFactor: false })
    expect(judge?.(user)).toBe('change')
    expect(judge?.({ ...user, factors: [] })).toBe('refuse')
    expect(change).toEqual({
      values: { name: 'Ada', totp_secret: null, totp_step: null, totp_at: null },
      losses: { sessions: true, backupCodes: true, tokens: ['two_factor_enrolment'] },
    })
  })
})

test('disabledAccount ends the sessions and every token but the undos and the wait for a deletion', () => {
  const { judge, ...change } = disabledAccount({ at: 100, until: null, reason: 'chargeback' }, false)
  // The account of this file was disabled until 90.
  expect(judge?.(user)).toBe('change')
  expect(judge?.({ ...user, disabledUntil: null })).toBe('done')
  expect(change).toEqual({
    values: { disabled_at: 100, disabled_until: null, disabled_reason: 'chargeback' },
    losses: { sessions: true, tokens: 'all_but_undos_and_deletion' },
  })
})

test('enabledAccount ends the wait for a deletion, and nothing else', () => {
  const values = { disabled_at: null, disabled_until: null, disabled_reason: null }
  const { judge, ...change } = enabledAccount(80)
  expect(judge?.(user)).toBe('change')
  expect(judge?.({ ...user, disabledAt: null })).toBe('done')
  const losses = { tokens: ['account_deletion'] }
  expect(change).toEqual({ values, losses, lossesIfDone: losses })
})

describe('firstProof', () => {
  test('keeps of a row only what no stranger can have planted', () => {
    const row = { ...toUserRow(user), ...firstProof.values }
    expect(toUser(row)).toEqual({
      ...user,
      emailVerified: true,
      verifiedBy: 'mailbox',
      name: null,
      passwordHash: null,
      fields: {},
      factors: [],
      identities: [],
    })
  })

  test('removes backup codes, identities and passkeys', () => {
    expect(firstProof.losses).toEqual({ backupCodes: true, identities: true, passkeys: true })
  })
})

describe('a new password', () => {
  const values = { password_hash: 'new' }
  const tokens = ['password_reset', 'invite', 'email_change']

  test('of the user ends pending resets and address changes', () => {
    expect(changedPassword('new')).toEqual({ values, losses: { tokens } })
  })

  test('of the application ends the sessions and forgets the devices, too', () => {
    expect(replacedPassword('new')).toEqual({
      values: { ...values, must_reset: 0 },
      losses: { tokens, sessions: true, devices: true },
    })
  })
})

describe('an address', () => {
  const address = { typed: 'Bo@Example.com', canonical: 'bo@example.com' }
  const values = { email: 'Bo@Example.com', email_canonical: 'bo@example.com', email_verified: 1 }

  test('that is changed ends what was mailed to the former one, but no session', () => {
    const tokens = ['email_change', 'email_verification', 'password_reset', 'invite', 'otp']
    expect(changedAddress(address, 'mailbox')).toEqual({
      values: { ...values, verified_by: 'mailbox' },
      losses: { tokens },
    })
  })

  test('that is restored ends everything that could sign a thief in, and is not proved', () => {
    const losses = { sessions: true, devices: true, tokens: 'all_but_undos' }
    expect(restoredAddress(address)).toEqual({ values: { ...values, verified_by: null }, losses })
  })
})

test('profileColumns sets what is given, null included', () => {
  expect(profileColumns({ name: null })).toEqual({ name: null })
  expect(profileColumns({ fields: { plan: 'pro' } })).toEqual({ fields: '{"plan":"pro"}' })
  expect(profileColumns({})).toEqual({})
})
