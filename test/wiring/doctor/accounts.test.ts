import { expect, test } from 'vitest'
import { createAuth } from '../../../src/index.js'
import { createWorld } from '../../../src/lib/runtime.js'
import { createTestRuntime } from '../../../src/testing.js'
import { accessKeyId } from '../../../src/tokens/jwt.js'
import { sharedSettings } from '../../support/auth.js'
import { diagnosed, doctorContext } from '../../support/doctor.js'

const email = 'ann@acme.example'
const day = 24 * 60 * 60

/** A deployment whose administrator has an account, or has not. */
async function deployment(change: (auth: ReturnType<typeof createAuth>) => Promise<unknown>) {
  const shared = { ...sharedSettings(), baseUrl: 'http://localhost:3000' }
  const auth = createAuth({ ...shared, password: { cost: 10, checkBreached: false } })
  await change(auth)
  await auth.close()
  return { ...shared, admin: { emails: [email], twoFactor: false } }
}

const create = (emailVerified: boolean) => (auth: ReturnType<typeof createAuth>) =>
  auth.users.create({ email, password: 'correct horse battery', emailVerified })

test('without an account of admin.emails, the addresses and their faults are named', async () => {
  const settings = await deployment(async () => {})
  expect(await diagnosed('admin_missing', { settings })).toMatchObject([
    { ok: false, level: 'warn', finding: `No administrator can sign in: ${email} has no account.` },
  ])
})

test('an account that has not proved its address, or is disabled, is no administrator', async () => {
  const unproved = await deployment(create(false))
  expect(await diagnosed('admin_missing', { settings: unproved })).toMatchObject([
    { ok: false, finding: `No administrator can sign in: ${email} has not proved the address.` },
  ])
  const disabled = await deployment(async (auth) => {
    const { id } = await create(true)(auth)
    await auth.users.disable(id)
  })
  expect(await diagnosed('admin_missing', { settings: disabled })).toMatchObject([
    { ok: false, finding: `No administrator can sign in: ${email} is disabled.` },
  ])
})

test('an administrator who can sign in is fine, unless a second factor is required and missing', async () => {
  const settings = await deployment(create(true))
  expect(await diagnosed('admin_missing', { settings })).toMatchObject([{ ok: true, skipped: null }])
  const strict = { ...settings, admin: { emails: [email], twoFactor: true } }
  expect(await diagnosed('admin_missing', { settings: strict })).toMatchObject([
    { ok: false, finding: expect.stringContaining('No account of admin.emails has a second factor') },
  ])
})

test('without admin.emails no administrator is missed', async () => {
  expect(await diagnosed('admin_missing')).toMatchObject([{ ok: true, skipped: 'admin.emails is empty.' }])
})

test.each([
  [365, [{ ok: true, skipped: null }]],
  [366, [{ ok: false, level: 'warn', finding: 'The first JWT_ACCESS_TOKEN_SECRET has signed for 366 days.' }]],
])('a secret that has signed for %i days', async (days, expected) => {
  const world = createWorld(createTestRuntime())
  const context = await doctorContext({ world: { now: world.now } })
  const [secret = ''] = context.settings.accessSecrets
  const { keyIds } = await context.store()
  await keyIds.note(accessKeyId(secret), Math.floor(world.now() / 1000) - days * day)
  await keyIds.note('another', 0)
  expect(await diagnosed('secret_old', { context })).toMatchObject(expected)
  expect(JSON.stringify(expected)).not.toContain(secret)
})
