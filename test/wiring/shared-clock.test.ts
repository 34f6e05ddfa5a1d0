import { randomBytes } from 'node:crypto'
import { expect, onTestFinished, test } from 'vitest'
import { createAuth } from '../../src/index.js'
import { createTestClient, createTestMailbox } from '../../src/testing.js'
import { startPostgres } from '../support/pglite.js'

const tenMinutesMs = 600_000
const secret = () => randomBytes(48).toString('base64url')

test.each([tenMinutesMs, -tenMinutesMs])('a clock that jumps by %i ms dates no token', async (jumpMs) => {
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
  const { iat } = JSON.parse(Buffer.from(accessToken?.split('.')[1] ?? '', 'base64url').toString())
  expect(Math.abs(iat - Date.now() / 1000)).toBeLessThan(60)
})
