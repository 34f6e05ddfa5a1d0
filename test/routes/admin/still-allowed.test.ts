import { expect, test } from 'vitest'
import { AuthError } from '../../../src/errors.js'
import type { RouteContext } from '../../../src/http/route.js'
import { type Caller, stillAllowed } from '../../../src/routes/admin/caller.js'

/** An admin token whose check the test decides. */
function token() {
  const state: { nowMs: number; fault: AuthError | null } = { nowMs: 0, fault: null }
  const ports = {
    clock: { monotonicMs: () => state.nowMs },
    adminTokens: {
      async identify() {
        if (state.fault) throw state.fault
      },
    },
  }
  const context = { ports, adminToken: 'text', visitor: { ip: null } } as unknown as RouteContext
  const caller = { kind: 'adminToken' } as Caller
  return { state, still: stillAllowed(context, caller, { who: 'admin' }) }
}

test('a store that does not answer ends the transfer of an admin token after a minute, a removal at once', async () => {
  const { state, still } = token()
  await still()
  state.fault = new AuthError('store_unavailable')
  state.nowMs = 59_999
  await still()
  state.fault = null
  await still()
  state.fault = new AuthError('store_unavailable')
  state.nowMs += 59_999
  await still()
  state.nowMs += 1
  await expect(still()).rejects.toMatchObject({ code: 'store_unavailable' })
  state.fault = new AuthError('unauthenticated')
  state.nowMs = 0
  await expect(still()).rejects.toMatchObject({ code: 'unauthenticated' })
})
