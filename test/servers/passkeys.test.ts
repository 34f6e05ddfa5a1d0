import { describe, expect, onTestFinished, test } from 'vitest'
import { ada, sharedSettings, testAuth } from '../support/auth.js'
import { loginOptions, withPasskey } from '../support/passkey-browser.js'
import { createDatabase, type ServerKind } from '../support/servers.js'

describe.each<ServerKind>(['postgres', 'mysql'])('passkeys on %s', (kind) => {
  test('ATK-168 of twenty uses of one challenge, at two processes, one gets a session', async () => {
    const database = await createDatabase(kind)
    onTestFinished(() => database.close())
    const shared = { ...sharedSettings(), database: database.url }
    const { client, device, browser, runtime, passkey } = await withPasskey(shared)
    const other = await testAuth(shared, runtime)
    const phone = client()
    const response = device.sign(await loginOptions(phone))
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, index) => {
        const copy = index % 2 === 0 ? client() : other.client()
        for (const cookie of phone.cookies.all()) copy.cookies.put(cookie)
        return copy.post('/auth/passkeys/login', { response })
      }),
    )
    expect(answers.map(({ status }) => status).sort()).toEqual([200, ...Array(19).fill(400)])
    expect((await browser.get<{ sessions: unknown[] }>('/auth/sessions')).body.sessions).toHaveLength(2)

    const path = `/auth/passkeys/${passkey.id}`
    const removals = await Promise.all([1, 2, 3].map(() => browser.copy().delete(path, { password: ada.password })))
    expect(removals.filter(({ status }) => status === 204)).toHaveLength(1)
  })
})
