import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { describe, expect, onTestFinished, test } from 'vitest'
import { testSettings } from '../../src/testing.js'
import { redisUrl } from '../support/redis-server.js'
import { createDatabase, type ServerKind } from '../support/servers.js'

const run = promisify(execFile)
const entry = new URL('../../dist/index.js', import.meta.url).href
const root = fileURLToPath(new URL('../..', import.meta.url))

/** A script of an owner: nothing but the package keeps it alive. */
function scriptOf(settings: object): string {
  return `import { createAuth } from ${JSON.stringify(entry)}
    const auth = createAuth(${JSON.stringify(settings)})
    const user = await auth.users.create({ email: 'ada@example.test', password: 'correct horse battery' })
    await auth.close()
    await auth.close()
    console.log('closed', (user.id.length > 0))`
}

const redis = { redis: redisUrl }

describe.each<[ServerKind, string, object]>([
  ['postgres', 'alone', {}],
  ['postgres', 'with Redis', redis],
  ['mysql', 'alone', {}],
])('a script on %s %s', (kind, _, redis) => {
  test('goes on after auth.close() and ends by itself', async () => {
    const database = await createDatabase(kind)
    onTestFinished(() => database.close())
    const { JWT_ACCESS_TOKEN_SECRET, JWT_REFRESH_TOKEN_SECRET } = testSettings()
    const mail = { from: 'auth@example.test', transport: 'smtp://127.0.0.1:9' }
    const secrets = { JWT_ACCESS_TOKEN_SECRET, JWT_REFRESH_TOKEN_SECRET }
    const settings = { ...secrets, baseUrl: 'https://app.example.test', mail, database: database.url }
    const script = scriptOf({ ...settings, ...redis })
    const { stdout } = await run(process.execPath, ['--input-type=module', '--eval', script], { cwd: root })
    expect(stdout).toBe('closed true\n')
  })
})
