import type { LatchkeySettings } from '../../src/index.js'
import type { SignedIn, TestClient } from '../../src/testing.js'
import { type Administered, administered, administrator } from './administrators.js'
import { ada } from './auth.js'

export interface Impersonating extends Administered {
  /** The user's own browser. */
  user: TestClient
  userId: string
  /** The administrator acts as that user in this browser, which was the administrator's. */
  acting: TestClient
  /** The administrator's cookies as they were before. */
  former: TestClient
}

export const impersonation = { lifetime: '30m', notify: true, exceptRoles: ['AUDITOR'] } as const

export const reason = 'The user asked for help with an invoice.'

export const impersonatePath = (id: string) => `/auth/admin/api/users/${id}/impersonate`

/** An administrator, a user, and the setting that allows impersonation. */
export async function impersonable(overrides: Partial<LatchkeySettings> = {}) {
  const world = await administered({
    admin: { emails: [administrator.email], twoFactor: true, impersonation },
    ...overrides,
  })
  const user = world.client()
  const { body } = await user.signUp(ada)
  return { ...world, user, userId: body.user.id }
}

/** The same, with an impersonation that has begun. */
export async function impersonating(overrides: Partial<LatchkeySettings> = {}): Promise<Impersonating> {
  return begun(await impersonable(overrides))
}

export async function begun(world: Awaited<ReturnType<typeof impersonable>>): Promise<Impersonating> {
  const former = world.admin.copy()
  const answer = await world.admin.post<SignedIn>(impersonatePath(world.userId), { reason })
  if (answer.status !== 200) throw new Error(`the impersonation did not begin: ${answer.text}`)
  return { ...world, acting: world.admin, former }
}
