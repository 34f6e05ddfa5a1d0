import { expect, test } from 'vitest'
import { AuthError } from '../../../src/errors.js'
import { countPassword } from '../../../src/flows/steps/account-limits.js'
import { createKeyring } from '../../../src/lib/keyring.js'
import { openSqliteMemory } from '../../support/databases.js'

test('ATK-019 where no password can be compared now, none is counted: a full queue locks no account', async () => {
  const { store, close } = await openSqliteMemory()
  const counted: string[] = []
  let full = true
  const ports = {
    limiter: {
      request: async () => null,
      known: async () => null,
      refusedRequest: () => null,
      account: async (_kind: string, subject: string) => {
        counted.push(subject)
        return null
      },
      mail: async () => null,
      notice: async () => 'send' as const,
      forget: async () => {},
      factor: async () => null,
      forgetFactor: async () => {},
      reopenFactor: async () => {},
    },
    devices: store.devices,
    keyring: createKeyring(['a key for this test, 32 bytes and more']),
    clock: { now: () => 1_700_000_000, nowMs: () => 1_700_000_000_000, monotonicMs: () => 0 },
    passwords: {
      requireRoom() {
        if (full) throw new AuthError('busy')
      },
    },
  }
  const tried = { address: 'ada@example.test', userId: null, device: null, visitor: { ip: '192.0.2.1' } }
  await expect(countPassword(ports, tried)).rejects.toMatchObject({ code: 'busy' })
  expect(counted).toEqual([])
  full = false
  const source = { key: '192.0.2.0/24', known: false }
  expect(await countPassword(ports, tried)).toEqual({ failures: ['ada@example.test'], source })
  expect(counted).toEqual(['ada@example.test'])
  await close()
})
