import { randomBytes } from 'node:crypto'
import { expect, onTestFinished, test } from 'vitest'
import { createAuth } from '../../src/index.js'
import { createTestClient, createTestMailbox } from '../../src/testing.js'
import { createDatastoreBed } from '../support/datastores.js'
import { createPersistentDatastore } from '../support/persistent-datastore.js'
import { startPostgres } from '../support/pglite.js'

const tenMinutesMs = 600_000
const secret = () => randomBytes(48).toString('base64url')

test.each([tenMinutesMs, -tenMinutesMs])('a clock that jumps by %i ms dates no token and no event', async (jumpMs) => {
  const postgres = await startPostgres()
  let aheadMs = 0
  const settings = {
    JWT_ACCESS_TOKEN_SECRET: secret(),
    JWT_REFRESH_TOKEN_SECRET: secret(),
    baseUrl: 'http://localhost:3000',
    database: postgres.dialect(),
    mail: { from: 'Test <auth@example.test>', transport: createTestMailbox().transport },
    password: { cost: 10, checkBreached: false },
  }
  // Not the test kit's runtime: under a test clock nothing is corrected.
  const auth = createAuth(settings, { now: () => Date.now() + aheadMs })
  onTestFinished(async () => {
    await auth.close()
    await postgres.close()
  })
  const account = { email: 'ada@example.test', password: 'difference-engine-no-2' }
  await auth.users.create({ ...account, emailVerified: true })

  aheadMs = jumpMs
  const client = createTestClient(auth)
  expect((await client.post('/auth/login', account)).status).toBe(200)
  const accessToken = client.cookies.all().find(({ name }) => name === 'access-token')?.value
  expect(Math.abs(issuedAt(accessToken) - Date.now() / 1000)).toBeLessThan(60)
  const [login] = (await auth.audit.list({ event: 'login' })).items
  expect(Math.abs(new Date(login?.at ?? 0).getTime() - Date.now())).toBeLessThan(60_000)
})

test('on a Datastore, which has no clock, a process whose clock is ahead dates no token of another', async () => {
  const bed = await createDatastoreBed()
  const secrets = { JWT_ACCESS_TOKEN_SECRET: secret(), JWT_REFRESH_TOKEN_SECRET: secret() }
  const closing: (() => Promise<void>)[] = [bed.close]
  onTestFinished(async () => {
    for (const close of closing.reverse()) await close()
  })
  function start(aheadMs: number) {
    const datastore = createPersistentDatastore({ file: bed.file })
    const settings = {
      ...secrets,
      baseUrl: 'http://localhost:3000',
      database: datastore,
      mail: { from: 'Test <auth@example.test>', transport: createTestMailbox().transport },
      password: { cost: 10, checkBreached: false },
      logger: { warn() {}, error() {} },
    }
    const auth = createAuth(settings, { now: () => Date.now() + aheadMs })
    closing.push(async () => {
      await auth.close()
      datastore.close()
    })
    return auth
  }
  const account = { email: 'ada@example.test', password: 'difference-engine-no-2' }
  const ahead = start(tenMinutesMs)
  const { id } = await ahead.users.create({ ...account, emailVerified: true })
  await ahead.users.update(id, { roles: ['EDITOR'] })

  const client = createTestClient(start(0))
  expect((await client.post('/auth/login', account)).status).toBe(200)
  const accessToken = client.cookies.all().find(({ name }) => name === 'access-token')?.value
  expect(Math.abs(issuedAt(accessToken) - Date.now() / 1000)).toBeLessThan(60)
})

function issuedAt(token: string | undefined): number {
  return JSON.parse(Buffer.from(token?.split('.')[1] ?? '', 'base64url').toString()).iat
}
