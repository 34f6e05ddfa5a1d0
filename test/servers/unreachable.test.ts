import { setTimeout as pause } from 'node:timers/promises'
import { describe, expect, onTestFinished, test } from 'vitest'
import { createAuth } from '../../src/index.js'
import { createTestRuntime, testSettings } from '../../src/testing.js'
import { startCuttingProxy } from '../support/cutting-proxy.js'
import { createDatabase, type ServerKind, serverUrls } from '../support/servers.js'

const names = { postgres: 'PostgreSQL', mysql: 'MySQL' }

/** An application on that database, and what it logs. */
function application(database: string) {
  const lines: string[] = []
  const log = (fields: object, message?: string) => void lines.push(JSON.stringify(fields) + message)
  const settings = { ...testSettings(), database, logger: { warn: log, error: log } }
  const auth = createAuth(settings, createTestRuntime())
  onTestFinished(() => auth.close())
  const login = () =>
    auth.fetch(
      new Request(`${settings.baseUrl}/auth/login`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', origin: settings.baseUrl ?? '' },
        body: JSON.stringify({ email: 'ada@example.test', password: 'correct horse battery' }),
      }),
      { ip: '127.0.0.1' },
    )
  return { auth, lines, login }
}

describe.each<ServerKind>(['postgres', 'mysql'])('an application whose %s', (kind) => {
  test('is away when it starts answers 503, says which server in the log, and serves as soon as it is there', async () => {
    const database = await createDatabase(kind)
    onTestFinished(() => database.close())
    const target = new URL(serverUrls[kind])
    const proxy = await startCuttingProxy({ host: target.hostname, port: Number(target.port) })
    onTestFinished(() => proxy.close())
    await proxy.stop()

    const url = new URL(database.url)
    url.port = String(proxy.port)
    // This PostgreSQL trusts whoever comes from here; MariaDB would refuse a password that it did not ask for.
    if (kind === 'postgres') url.password = 'hunter2'
    const { auth, lines, login } = application(url.href)
    const sentence = `database: ${names[kind]} at 127.0.0.1:${proxy.port} cannot be reached (ECONNREFUSED). Check that it runs, and the host and port in the URL.`
    await expect(auth.ready()).rejects.toThrow(sentence)
    const refused = await login()
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '1'])
    expect(lines.join()).toContain(sentence)
    expect(lines.join()).not.toMatch(/hunter2|root|postgres[@:]/)

    await proxy.listen()
    await pause(1_050)
    expect((await login()).status).toBe(401)
  })

  test('refuses the password is told so, and neither user nor password', async () => {
    const url = new URL(`${serverUrls[kind]}/nowhere`)
    url.username = 'ada'
    url.password = 'hunter2'
    const { auth, lines } = application(url.href)
    const fault: unknown = await auth.ready().catch((error: unknown) => error)
    const what = /refuses the user or the password|no database of that name/
    expect(fault).toMatchObject({ message: expect.stringMatching(what) })
    expect(`${lines.join()}${fault instanceof Error ? fault.stack : ''}`).not.toMatch(/hunter2|\bada\b/)
  })

  test('has no TLS is not used without, where the URL wants it', async () => {
    const url = new URL(`${serverUrls[kind]}/nowhere?sslmode=require`)
    if (url.hostname === '127.0.0.1') url.hostname = 'localhost'
    const { auth } = application(url.href)
    await expect(auth.ready()).rejects.toThrow(/^database: \w+ at localhost:\d+ cannot be reached/)
  })

  test('does not answer at all is given up after connect_timeout', async () => {
    const proxy = await startCuttingProxy({ host: '127.0.0.1', port: 9 })
    onTestFinished(() => proxy.close())
    proxy.freeze()
    const url = new URL(`${serverUrls[kind]}/nowhere?connect_timeout=1`)
    url.port = String(proxy.port)
    await expect(application(url.href).auth.ready()).rejects.toThrow(/cannot be reached/)
  })
})
