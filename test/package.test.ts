import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { nodeBringsSqlite } from '../src/store/sql/engine/sqlite-driver.js'
import { startProgram } from './support/program.js'

const run = promisify(execFile)
const root = fileURLToPath(new URL('..', import.meta.url))
const doors = ['.', './testing', './client', './client/passkeys', './react', './host', './package.json']

let folder: string
let packed: string[]
let unpackedBytes: number

/** What `npm pack` makes of the built package, installed as an application would, in a folder of its own. */
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'latchkey-package-'))
  const { stdout } = await run('npm', ['pack', '--ignore-scripts', '--json', '--pack-destination', folder], {
    cwd: root,
  })
  const [report] = JSON.parse(stdout)
  packed = report.files.map((file: { path: string }) => file.path)
  unpackedBytes = report.unpackedSize

  await writeFile(join(folder, 'package.json'), '{ "name": "consumer", "private": true, "type": "module" }')
  await run('npm', ['install', '--ignore-scripts', '--prefer-offline', `./${report.filename}`], { cwd: folder })
  await link('better-sqlite3')
  await link('react')
  await link('@types/node')
  await link('@types/react')
}, 180_000)

afterAll(() => rm(folder, { recursive: true, force: true }))

/** Optional peers and types that the consumer brings itself, without the minutes of compiling them again. */
async function link(name: string): Promise<void> {
  await mkdir(join(folder, 'node_modules', name, '..'), { recursive: true })
  await symlink(join(root, 'node_modules', name), join(folder, 'node_modules', name))
}

/** Runs a script of the consumer and returns what it printed, as JSON. */
async function consume(name: string, script: string): Promise<unknown> {
  await writeFile(join(folder, name), script)
  const { stdout } = await run(process.execPath, ['--no-warnings', name], { cwd: folder })
  return JSON.parse(stdout)
}

const nameOf = (door: string) => `latchkey${door.slice(1)}`

describe('the packed package', () => {
  test('has the doors that these tests open, and no other', async () => {
    const { exports } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8'))
    expect(Object.keys(exports)).toEqual(doors)
  })

  test('holds the build, the templates, docs, examples and the papers, and nothing else', () => {
    const papers = ['CHANGELOG.md', 'LICENSE', 'README.md', 'SECURITY.md', 'llms.txt', 'package.json']
    const rest = packed.filter((path) => !/^(dist|docs|examples|templates)\//.test(path))
    expect(rest.sort()).toEqual(papers)
    expect(
      packed.filter((path) => /(^|\/)(test|bench)\/|(^|\/)private\/(?!\.gitignore$)|\.test\.|\.db/.test(path)),
    ).toEqual([])
  })

  test('holds code and declarations, each once: no maps, and nothing that an earlier build left', () => {
    const kinds = /^dist\/((client|program|thread)\/)?[\w-]+\.(js|mjs|d\.ts)$/
    expect(packed.filter((path) => path.startsWith('dist/') && !kinds.test(path))).toEqual([])
    const names = packed.flatMap((path) => /^dist\/([\w-]+)-[\w-]{8}\.js$/.exec(path)?.[1] ?? [])
    expect(names.length).toBeGreaterThan(50)
    expect(packed.length).toBeLessThanOrEqual(600)
    expect(unpackedBytes).toBeLessThanOrEqual(5 * 1024 * 1024)
  })

  test('keeps the names of functions, so that a stack reads well', async () => {
    const found = await consume(
      'stack.mjs',
      `const { createAuth } = await import('latchkey')
      const error = await Promise.resolve().then(() => createAuth({ baseUrl: 'nowhere' })).catch((error) => error)
      console.log(JSON.stringify({ stack: error.stack }))`,
    )
    expect(found).toHaveProperty('stack', expect.stringMatching(/at parseSettings .*\n(.*\n)*.*at createAuth /))
  })

  test('links the command latchkey, which starts', async () => {
    const { version } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8'))
    const { stdout } = await run(join(folder, 'node_modules/.bin/latchkey'), ['--version'])
    expect(stdout).toBe(`${version}\n`)
  })

  test('opens every door to import', async () => {
    const lines = doors.map((door) => {
      const attributes = door.endsWith('.json') ? ", { with: { type: 'json' } }" : ''
      return `found['${door}'] = Object.keys(await import('${nameOf(door)}'${attributes}))`
    })
    const found = await consume(
      'import.mjs',
      `const found = {}\n${lines.join('\n')}\nconsole.log(JSON.stringify(found))`,
    )
    expect(found).toMatchObject({ '.': ['AuthError', 'SettingsError', 'createAuth', 'init'] })
    expect(found).toHaveProperty(['./testing'], expect.arrayContaining(['createTestClient']))
    expect(found).toHaveProperty(['./host'], ['createHost'])
    expect(found).toHaveProperty(['./client'], expect.arrayContaining(['AuthClientError', 'createAuthClient']))
  })

  test('opens every door to require', async () => {
    const lines = doors.map((door) => `found['${door}'] = Object.keys(require('${nameOf(door)}'))`)
    const found = await consume(
      'require.cjs',
      `const found = {}\n${lines.join('\n')}\nconsole.log(JSON.stringify(found))`,
    )
    expect(found).toHaveProperty(['.'], expect.arrayContaining(['AuthError', 'SettingsError', 'createAuth', 'init']))
    expect(found).toHaveProperty(['./testing'], expect.arrayContaining(['createTestClient']))
  })

  test('says which packages a host needs, and listens once they are there', async () => {
    const script = `import { createHost } from 'latchkey/host'
       const quiet = { logger: { warn() {}, error() {} } }
       const mail = { from: 'host@example.test', transport: 'smtp://127.0.0.1:9' }
       const host = createHost({ data: './host', listen: './front.sock', adminListen: './admin.sock', mail, auth: quiet })
       const answer = await host.listen().then(() => 'listens', ({ faults }) => faults)
       await host.close()
       console.log(JSON.stringify(answer))`
    const message = 'needs more packages. Run: npm install undici@7 mingo@7 tar-stream@3'
    const tool = `import { spawnSync } from 'node:child_process'
       const run = [import.meta.dirname + '/node_modules/latchkey/dist/cli.js', 'serve']
       const { status, stderr } = spawnSync(process.execPath, run, { encoding: 'utf8', cwd: import.meta.dirname })
       console.log(JSON.stringify([status, stderr]))`
    for (const name of ['undici', 'mingo', 'tar-stream']) {
      expect(await consume('serve.mjs', tool), name).toEqual([2, expect.stringContaining(message)])
      expect(await consume('host.mjs', script), name).toEqual([{ setting: 'host', message }])
      await link(name)
    }
    expect(await consume('host.mjs', script)).toBe('listens')
  })

  test('signs a visitor up, over the built-in templates and the hash workers of the build', async () => {
    const answers = await consume(
      'use.mjs',
      `import { createAuth } from 'latchkey'
       import { createTestClient, createTestMailbox, testSettings } from 'latchkey/testing'
       let threads = 0
       process.on('worker', () => { threads += 1 })
       const mailbox = createTestMailbox()
       const auth = createAuth(testSettings({ mailbox, limits: {}, password: { cost: 10 } }))
       const next = () => Response.json({ notes: [] })
       const client = createTestClient(auth, { mailbox, next })
       const before = await client.get('/api/notes')
       const signedUp = await client.signUp({ email: 'ada@example.test', password: 'correct horse battery' })
       const after = await client.get('/api/notes')
       await auth.close()
       console.log(JSON.stringify([before.status, signedUp.status, after.status, after.body, threads > 0]))`,
    )
    expect(answers).toEqual([401, 200, 200, { notes: [] }, true])
  })

  test('shows the owner every page and mail', async () => {
    const preview = startProgram('node', ['node_modules/latchkey/templates/preview.js'], { cwd: folder })
    try {
      const [, address] = await preview.printed(/(http:\S+)/)
      expect(await fetch(`${address}mail/verify`).then((answer) => answer.text())).toContain('Hello,')
    } finally {
      await preview.stop()
    }
  })

  test('says at init that argon2id needs its package, and hashes with it once it is there', async () => {
    const script = `import { createAuth } from 'latchkey'
       import { createTestRuntime, testSettings } from 'latchkey/testing'
       try {
         const auth = createAuth(testSettings({ password: { algorithm: 'argon2id' } }), createTestRuntime())
         const { id } = await auth.users.create({ email: 'ada@example.test', password: 'correct horse battery' })
         await auth.close()
         console.log(JSON.stringify(typeof id))
       } catch (error) {
         console.log(JSON.stringify([error.name, error.faults]))
       }`
    const message = expect.stringMatching(/cannot be loaded here \(MODULE_NOT_FOUND\): npm install @node-rs\/argon2$/)
    const fault = { setting: 'password.algorithm', message }
    expect(await consume('argon2id.mjs', script)).toEqual(['SettingsError', [fault]])
    await link('@node-rs/argon2')
    expect(await consume('argon2id.mjs', script)).toBe('string')
  })

  const faultsOf = (settings: object) =>
    consume(
      'faults.mjs',
      `import { createAuth } from 'latchkey'
       import { createTestRuntime, testSettings } from 'latchkey/testing'
       try {
         await createAuth(testSettings(${JSON.stringify(settings)}), createTestRuntime()).close()
         console.log('[]')
       } catch (error) {
         console.log(JSON.stringify(error.faults))
       }`,
    )

  test.each([
    ['redis', 'redis://127.0.0.1:1', 'ioredis'],
    ['database', 'postgres://127.0.0.1:1/app', 'pg'],
    ['database', 'mysql://127.0.0.1:1/app', 'mysql2'],
  ])('says at init that %s, %s, needs its package', async (setting, url, name) => {
    const message = `needs a package that cannot be loaded here (MODULE_NOT_FOUND): npm install ${name}`
    expect(await faultsOf({ [setting]: url })).toEqual([{ setting, message }])
  })

  test('says at init that SQLite needs a driver where Node brings none', async () => {
    const sqlite = { database: 'sqlite::memory:' }
    const message = expect.stringMatching(/^SQLite needs Node 22\.16 or newer.*npm install better-sqlite3/)
    await rm(join(folder, 'node_modules/better-sqlite3'))
    try {
      expect(await faultsOf(sqlite)).toEqual(nodeBringsSqlite() ? [] : [{ setting: 'database', message }])
    } finally {
      await link('better-sqlite3')
    }
    expect(await faultsOf(sqlite)).toEqual([])
  })

  test('type-checks in an application that checks its libraries too, ESM and CommonJS', async () => {
    await writeFile(
      join(folder, 'app.ts'),
      `import { AuthError, type LatchkeySettings, type Principal, type User, SettingsError, createAuth, init } from 'latchkey'
       import { createAuthClient } from 'latchkey/client'
       import { type Host, type HostSettingsInput, createHost } from 'latchkey/host'
       import { createTestClient } from 'latchkey/testing'
       const auth = init({}, { JWT_ACCESS_TOKEN_SECRET: 'a', JWT_REFRESH_TOKEN_SECRET: ['b'], baseUrl: 'https://a.test' })
       export async function whoIs(request: Request): Promise<Principal | null> {
         const answer: Response = await auth.fetch(request, { ip: '127.0.0.1' })
         if (answer.status === 401) throw new AuthError('unauthenticated')
         return null
       }
       export const parts = [SettingsError, createAuth, createTestClient]
       declare module 'latchkey' {
         interface UserFields {
           plan: 'free' | 'paid'
         }
       }
       export const plan = async (): Promise<'free' | 'paid' | undefined> => (await auth.users.get('id'))?.plan
       export const inBrowser = (): 'free' | 'paid' | undefined => createAuthClient().session.get()?.user.plan
       export const inHook = (user: User): 'free' | 'paid' => user.plan
       export const lifetimes: Partial<LatchkeySettings> = { accessTokenLifetime: '15m', limits: { login: { ip: '30/1m' } } }
       const limits: HostSettingsInput['limits'] = { memory: '512MiB', request: '10s' }
       export const host: Host = createHost({ project: 'shop', limits, auth: { admin: { recent: '5m' } } })
       export const closed: Promise<void> = host.listen().then(() => host.close())
       // @ts-expect-error a size without a unit
       export const sizeless: HostSettingsInput = { limits: { memory: 512 } }
       // @ts-expect-error the host gives its accounts their database itself
       export const owned: HostSettingsInput = { auth: { database: 'sqlite:./my.db' } }
       // @ts-expect-error a number without a unit
       export const unitless: Partial<LatchkeySettings> = { accessTokenLifetime: '900' }
       // @ts-expect-error a code that no row of the table has
       export const unknown = new AuthError('no_such_code')\n`,
    )
    await writeFile(
      join(folder, 'app.cts'),
      `import latchkey = require('latchkey')
       import testing = require('latchkey/testing')
       export const parts = [latchkey.init, testing.createTestClient]\n`,
    )
    const options = {
      strict: true,
      noEmit: true,
      module: 'nodenext',
      target: 'es2023',
      types: ['node'],
      skipLibCheck: false,
    }
    await writeFile(
      join(folder, 'tsconfig.json'),
      JSON.stringify({ compilerOptions: options, files: ['app.ts', 'app.cts'] }),
    )
    const tsc = join(root, 'node_modules/typescript/bin/tsc')
    const output = await run(process.execPath, [tsc, '-p', folder]).catch((error: { stdout: string }) => error)
    expect(output.stdout).toBe('')
  }, 120_000)
})
