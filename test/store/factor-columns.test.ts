import { describe, expect, test } from 'vitest'
import { acceptsProof, factorColumns, noFactor, raisedStep, toFactorColumns } from '../../src/store/factor-columns.js'

const backupCode = { kind: 'backup_code', id: 'code-1' } as const

describe('acceptsProof', () => {
  test('takes a code of a newer time step only', () => {
    expect(acceptsProof({ totp_step: 7 }, { kind: 'totp', step: 8 })).toBe(true)
    expect(acceptsProof({ totp_step: 8 }, { kind: 'totp', step: 8 })).toBe(false)
    expect(acceptsProof({ totp_step: 9 }, { kind: 'totp', step: 8 })).toBe(false)
  })

  test('takes a backup code while a factor is on', () => {
    expect(acceptsProof({ totp_step: 8 }, backupCode)).toBe(true)
  })

  test('takes nothing without a factor', () => {
    expect(acceptsProof(noFactor, { kind: 'totp', step: 8 })).toBe(false)
    expect(acceptsProof(noFactor, backupCode)).toBe(false)
  })
})

test('raisedStep uses up the codes of the step, and leaves it for a backup code', () => {
  expect(raisedStep({ kind: 'totp', step: 8 })).toEqual({ totp_step: 8 })
  expect(raisedStep(backupCode)).toEqual({})
})

test('toFactorColumns and noFactor set the same columns', () => {
  const columns = toFactorColumns({ kind: 'totp', sealedSecret: 'sealed', lastStep: 8, enabledAt: 60 })
  expect(columns).toEqual({ totp_secret: 'sealed', totp_step: 8, totp_at: 60 })
  expect(Object.keys(noFactor)).toEqual(Object.keys(columns))
  expect([...Object.keys(noFactor), 'passkeys']).toEqual(factorColumns)
})
