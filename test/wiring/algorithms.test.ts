import Database from 'better-sqlite3'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import type { LatchkeySettings } from '../../src/index.js'
import { BoundedHashPool } from '../../src/passwords/hash-pool.js'
import { hasArgon2 } from '../support/addons.js'
import { ada, sharedSettings, type TestAuth, testAuth } from '../support/auth.js'

const pepper = 'Wm3ZtQ8vLx5RkY1nBc7JdHs0PfGu4TaEo6Xi9MyKe2N'
const kinds = {
  bcrypt: /^hmac-sha384:-:\$2b\$04\$/,
  argon2id: /^hmac-sha384:-:\$argon2id\$v=19\$m=19456,t=2,p=1\$/,
}

type Password = NonNullable<LatchkeySettings['password']>

/** One application that is started again with other settings over the same store. */
function application() {
  const shared = sharedSettings()
  const database = new Database(String(shared.database).replace('sqlite:', ''))
  onTestFinished(() => void database.close())
  return {
    start: (password: Password) => testAuth({ ...shared, password }),
    stored: (email: string) => {
      const row: unknown = database
        .prepare('select password_hash from latchkey_users where email_canonical = ?')
        .get(email)
      return String(Reflect.get(Object(row), 'password_hash'))
    },
  }
}

async function canSignIn({ client }: TestAuth, password = ada.password): Promise<number> {
  return (await client().post('/auth/login', { ...ada, password })).status
}

describe.skipIf(!hasArgon2)('password.algorithm', () => {
  it('may change in either direction: a sign-in makes the new kind, a wrong password changes nothing', async () => {
    const { start, stored } = application()
    const first = await start({ algorithm: 'bcrypt' })
    await first.auth.users.create({ ...ada, emailVerified: true })
    expect(stored(ada.email)).toMatch(kinds.bcrypt)

    for (const algorithm of ['argon2id', 'bcrypt'] as const) {
      const next = await start({ algorithm })
      const before = stored(ada.email)
      expect(await canSignIn(next, 'wrong horse battery')).toBe(401)
      expect(stored(ada.email)).toBe(before)
      expect(await canSignIn(next)).toBe(200)
      expect(stored(ada.email)).toMatch(kinds[algorithm])
      const upgraded = stored(ada.email)
      expect(await canSignIn(next)).toBe(200)
      expect(stored(ada.email)).toBe(upgraded)
    }
  })

  it('and the pepper may change at once, as long as the old one is still given', async () => {
    const { start, stored } = application()
    const first = await start({ algorithm: 'bcrypt' })
    await first.auth.users.create({ ...ada, emailVerified: true })
    const peppered = await start({ algorithm: 'argon2id', pepper })
    expect(await canSignIn(peppered)).toBe(200)
    expect(stored(ada.email)).toMatch(/^hmac-sha384:[\w-]{8}:\$argon2id\$/)
    expect(await canSignIn(await start({ algorithm: 'argon2id' }))).toBe(401)
    expect(await canSignIn(await start({ algorithm: 'bcrypt', pepper }))).toBe(200)
    expect(stored(ada.email)).toMatch(/^hmac-sha384:[\w-]{8}:\$2b\$/)
  })

  it('ATK-004 the first failed sign-in after the change already waits for the old kind, also when nobody came by it', async () => {
    const { start } = application()
    const first = await start({ algorithm: 'bcrypt', cost: 8 })
    await first.auth.close()
    const second = await start({ algorithm: 'argon2id' })
    const hashing = vi.spyOn(BoundedHashPool.prototype, 'run')
    onTestFinished(() => hashing.mockRestore())
    const schemes = () => hashing.mock.calls.map(([{ scheme, salt }]) => [scheme, String(salt).slice(0, 7)])
    expect(await canSignIn(second)).toBe(401)
    expect(schemes()).toContainEqual(['bcrypt', '$2b$08$'])
    hashing.mockClear()
    expect(await canSignIn(second)).toBe(401)
    expect(schemes().map(([scheme]) => scheme)).toEqual(['argon2id'])
  })

  it('holds wherever a password is set', async () => {
    const { start, stored } = application()
    const { auth, client, mailbox } = await start({ algorithm: 'argon2id' })
    const browser = client()
    const { body } = await browser.signUp(ada)
    expect(stored(ada.email)).toMatch(kinds.argon2id)
    const newPassword = 'analytical engine 1843'
    await browser.post('/auth/password/change', { currentPassword: ada.password, newPassword })
    expect(stored(ada.email)).toMatch(kinds.argon2id)
    await browser.post('/auth/password/forgot', { email: ada.email })
    const token = mailbox.token(await mailbox.waitFor(ada.email, 'Choose a new password'))
    expect((await browser.post('/auth/password/reset', { token, password: ada.password })).status).toBe(200)
    expect(stored(ada.email)).toMatch(kinds.argon2id)
    await auth.users.setPassword(body.user.id, newPassword)
    expect(stored(ada.email)).toMatch(kinds.argon2id)
    await client().signIn({ ...ada, password: newPassword })
  })
})
