import { describe, expect, test } from 'vitest'
import { everyHold, lossesWithDeletion } from '../../../src/store/accounts/losses.js'
import { isDropped } from '../../../src/store/one-time-tokens.js'

describe('isDropped', () => {
  test('names the purposes that go', () => {
    expect(isDropped(['password_reset', 'otp'], 'otp')).toBe(true)
    expect(isDropped(['password_reset', 'otp'], 'two_factor')).toBe(false)
    expect(isDropped([], 'otp')).toBe(false)
  })

  test('spares an undo of an address change unless everything goes', () => {
    expect(isDropped('all_but_undos', 'email_undo')).toBe(false)
    expect(isDropped('all_but_undos', 'password_reset')).toBe(true)
    expect(isDropped('all', 'email_undo')).toBe(true)
  })
})

test('an attacker who resets the password cannot get rid of an undo by that', () => {
  expect(isDropped(everyHold.tokens ?? [], 'email_undo')).toBe(false)
})

test('a deleted account leaves nothing behind', () => {
  expect(lossesWithDeletion).toEqual({
    sessions: true,
    devices: true,
    backupCodes: true,
    identities: true,
    passkeys: true,
    tokens: 'all',
  })
})
