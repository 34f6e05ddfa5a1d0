import { expect, onTestFinished, test } from 'vitest'
import { createTokens } from '../../src/tokens/jwt.js'
import { notedTokens } from '../../src/wiring/noted-tokens.js'
import { attackServer, heldTokens } from '../support/attack-server.js'
import { ada } from '../support/auth.js'
import { accessClaims, tokenSettings } from '../support/tokens.js'

test('a process notes the key of the access secret when it first signs with it', async () => {
  const server = await attackServer({ file: true })
  onTestFinished(() => server.close())
  const noted = () => server.sql<{ kid: string; first_used_at: number }>('select * from latchkey_key_ids')
  expect(noted()).toEqual([])
  const client = server.client()
  await client.signUp(ada)
  const [header = ''] = heldTokens(client).access.split('.')
  const { kid } = JSON.parse(Buffer.from(header, 'base64url').toString())
  const firstUse = Math.floor(server.runtime.now() / 1_000)
  await expect.poll(noted).toEqual([{ kid, first_used_at: firstUse }])
})

test('a note that fails disturbs no signature, and the next one tries again', async () => {
  const asked: string[] = []
  const keyIds = {
    async note(kid: string) {
      asked.push(kid)
      if (asked.length === 1) throw new Error('the store is down')
    },
  }
  const tokens = notedTokens(createTokens(tokenSettings), { keyIds, clock: { now: () => 1 } })
  for (let signature = 0; signature < 3; signature += 1) {
    expect(tokens.checkAccess(tokens.signAccess(accessClaims))).toEqual(accessClaims)
    await Promise.resolve()
    await Promise.resolve()
  }
  expect(asked).toEqual([tokens.accessKeyId, tokens.accessKeyId])
})
