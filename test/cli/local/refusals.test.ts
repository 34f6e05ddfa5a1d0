import { chmod, chown, mkdir, readdir, rename, rm, stat, symlink, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import Database from 'better-sqlite3'
import { describe, expect, test } from 'vitest'
import { testSettings } from '../../../src/testing.js'
import { secretsForEnvironment } from '../../support/application-folder.js'
import { admin, type LocalDesk, openLocalDesk, settingsModule } from '../../support/local-desk.js'

const isRoot = process.getuid?.() === 0
const stranger = 65_534

/** Exit 2 with that sentence, no result and no stack. */
async function refused(desk: LocalDesk, args: readonly string[], sentence: string | RegExp): Promise<void> {
  const { code, stdout, stderr } = await desk.run(args)
  expect(stderr).toMatch(sentence)
  expect(stderr).not.toMatch(/^ +at /m)
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
}

/** A module that leaves a file behind when it runs. */
async function armed(desk: LocalDesk, folder = desk.folder): Promise<() => Promise<boolean>> {
  const trace = join(desk.folder, 'has-run')
  const text = `import { writeFileSync } from 'node:fs'\nwriteFileSync('${trace}', '')\n`
  await writeFile(join(folder, 'latchkey.config.mjs'), text + settingsModule('sqlite:./latchkey.db'))
  return () =>
    stat(trace).then(
      () => true,
      () => false,
    )
}

describe('ATK-212 files that others control', { timeout: 60_000 }, () => {
  test('a module, a folder or an .env that others can write to is not loaded', async () => {
    const desk = await openLocalDesk()
    const hasRun = await armed(desk)
    for (const [name, mode] of [
      ['latchkey.config.mjs', 0o644],
      ['.env', 0o600],
      ['.', 0o700],
    ] as const) {
      const path = join(desk.folder, name)
      await chmod(path, 0o666 | (name === '.' ? 0o111 : 0))
      await refused(desk, ['tokens'], /Others can write to .*chmod go-w/)
      await chmod(path, mode)
    }
    expect(await hasRun()).toBe(false)
    await refused(desk, ['tokens'], 'latchkey migrate')
    expect(await hasRun()).toBe(true)
  })

  test.runIf(isRoot)('a module or an .env of another user is not loaded', async () => {
    const desk = await openLocalDesk()
    const hasRun = await armed(desk)
    for (const name of ['latchkey.config.mjs', '.env']) {
      await chown(join(desk.folder, name), stranger, stranger)
      await refused(desk, ['tokens'], 'belongs to another user')
      await chown(join(desk.folder, name), 0, 0)
    }
    expect(await hasRun()).toBe(false)
  })

  test.runIf(isRoot)(
    'files of root are read by another user, as in most container images, unless others can write',
    async () => {
      const desk = await openLocalDesk({ database: 'sqlite:./data/latchkey.db' })
      await mkdir(join(desk.folder, 'data'))
      await chown(join(desk.folder, 'data'), stranger, stranger)
      await chmod(dirname(desk.folder), 0o755)
      await chmod(join(desk.folder, '.env'), 0o644)
      const asStranger = { userId: stranger }
      expect(await desk.shell('migrate', asStranger)).toMatchObject({ code: 0 })
      expect(await desk.shell('add-token --name ci', asStranger)).toMatchObject({ code: 0 })
      await chmod(join(desk.folder, '.env'), 0o600)
      const unreadable = await desk.shell('tokens', asStranger)
      expect(unreadable).toMatchObject({
        code: 2,
        stdout: '',
        stderr: expect.stringContaining('.env cannot be read by you'),
      })
      await chmod(join(desk.folder, '.env'), 0o664)
      const writable = await desk.shell('tokens', asStranger)
      expect(writable).toMatchObject({ code: 2, stdout: '', stderr: expect.stringContaining('Others can write to') })
    },
  )

  test.runIf(isRoot)('an SQLite file of another user gets no row, and no file beside it', async () => {
    const desk = await openLocalDesk()
    await desk.run(['migrate'])
    const file = join(desk.folder, 'latchkey.db')
    const before = await readdir(desk.folder)
    await chown(file, stranger, stranger)
    for (const command of ['add-token', 'tokens', 'migrate']) await refused(desk, [command], 'belongs to another user')
    await chown(file, 0, 0)
    expect(await readdir(desk.folder)).toEqual(before)
    expect(await desk.run(['tokens', '--json'])).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('"items": []'),
    })
  })

  test('--help and login load nothing', async () => {
    const desk = await openLocalDesk()
    const hasRun = await armed(desk)
    expect(await desk.run(['--help'])).toMatchObject({ code: 0 })
    expect(await desk.run(['create-admin', '--help'])).toMatchObject({ code: 0 })
    expect(await desk.run(['login'])).toMatchObject({ code: 2 })
    expect(await desk.run(['sessions'])).toMatchObject({ code: 4 })
    expect(await hasRun()).toBe(false)
  })

  test('settings with secrets that the store does not know are refused, and change nothing', async () => {
    const desk = await openLocalDesk()
    const { auth } = await desk.start()
    await auth.apiTokens.create({ name: 'ci' })
    await desk.run(['create-admin', admin.email, '--password', '-'], { input: admin.password })
    const own = secretsForEnvironment()
    const other = Object.values(own).map((secret) => [...secret].reverse().join(''))
    const [access = '', refresh = ''] = other
    const env = { JWT_ACCESS_TOKEN_SECRET: access, JWT_REFRESH_TOKEN_SECRET: refresh }
    const foreign = await desk.run(['add-token'], { env })
    expect(foreign).toMatchObject({ code: 2, stdout: '' })
    expect(foreign.stderr).toContain('records need another key')
    expect((await auth.apiTokens.list()).items).toHaveLength(1)
  })

  test('settings with an access secret that signed nothing are refused once a key is known', async () => {
    const desk = await openLocalDesk()
    const { url } = await desk.start()
    await desk.run(['create-admin', admin.email, '--password', '-'], { input: admin.password })
    const body = JSON.stringify({ ...admin, mode: 'token' })
    const login = await fetch(`${url}/auth/login`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body,
    })
    expect(login.status).toBe(200)
    const secret = String(secretsForEnvironment().JWT_ACCESS_TOKEN_SECRET)
    const env = { JWT_ACCESS_TOKEN_SECRET: [...secret].reverse().join('') }
    const foreign = await desk.run(['tokens'], { env })
    expect(foreign).toMatchObject({ code: 2, stdout: '' })
    expect(foreign.stderr).toContain('no token of this database was signed with it')
    expect(await desk.run(['tokens'])).toMatchObject({ code: 0 })
  })
})

describe('ATK-179 what local mode leaves alone', { timeout: 60_000 }, () => {
  test('a module in a parent folder is not looked for', async () => {
    const desk = await openLocalDesk()
    const inner = join(desk.folder, 'inner')
    await mkdir(inner)
    const hasRun = await armed(desk)
    const { code } = await desk.run(['tokens'], { folder: inner })
    expect(code).toBe(2)
    expect(await hasRun()).toBe(false)
  })

  test('a missing SQLite file is not made', async () => {
    const desk = await openLocalDesk()
    await refused(desk, ['add-token'], /there is no file .*latchkey\.db\. .*latchkey migrate/)
    expect(await readdir(desk.folder)).not.toContain('latchkey.db')
  })

  test('tables that are missing, older or newer are left as they are', async () => {
    const desk = await openLocalDesk()
    const file = join(desk.folder, 'latchkey.db')
    await writeFile(file, '', { mode: 0o600 })
    await refused(desk, ['tokens'], 'there are no tables yet. Run: latchkey migrate')
    await desk.run(['migrate'])
    change(file, "delete from latchkey_migrations where name like '0003%'")
    await refused(desk, ['tokens'], 'an older latchkey made the tables. Run: latchkey migrate')
    change(
      file,
      "insert into latchkey_migrations select '0003-administration', timestamp from latchkey_migrations limit 1",
    )
    change(file, "insert into latchkey_migrations values ('9999-later', '2999-01-01')")
    await refused(desk, ['tokens'], 'a newer latchkey made the tables (9999-later). Upgrade')
    await refused(desk, ['migrate'], 'Upgrade this package')
  })

  test('sqlite::memory: and a codehooks Datastore name --url', async () => {
    const memory = await openLocalDesk({ database: 'sqlite::memory:' })
    await refused(memory, ['tokens'], 'Use its control API instead: --url')
    const desk = await openLocalDesk({ more: 'database: { open: async () => ({}) },' })
    await refused(desk, ['tokens'], /codehooks Datastore\. .*--url/)
  })

  test('faults of the settings are listed as init lists them', async () => {
    const desk = await openLocalDesk({ more: "basePath: 'auth'," })
    await refused(desk, ['tokens'], /basePath/)
  })

  test('two tools and an application that write at once leave the audit chain unbroken', async () => {
    const desk = await openLocalDesk()
    const { auth } = await desk.start()
    const own = Array.from({ length: 5 }, (_, index) => auth.apiTokens.create({ name: `own ${index}` }))
    const outcomes = await Promise.all([
      desk.run(['add-token']),
      desk.run(['whitelist', '203.0.113.7', '--yes']),
      ...own,
    ])
    expect(outcomes.slice(0, 2)).toMatchObject([{ code: 0 }, { code: 0 }])
    expect(await desk.run(['audit', 'verify'])).toMatchObject({ code: 0 })
    expect((await auth.apiTokens.list()).items).toHaveLength(6)
  })
})

function change(file: string, statement: string): void {
  const database = new Database(file)
  database.exec(statement)
  database.close()
}

describe('the settings module', { timeout: 60_000 }, () => {
  test('may export settings, a function, or be CommonJS, and its paths count from its folder', async () => {
    const desk = await openLocalDesk()
    await desk.run(['migrate'])
    const config = join(desk.folder, 'latchkey.config.mjs')
    const shapes = {
      'named.mjs': settingsModule('sqlite:./latchkey.db').replace('export default', 'export const settings ='),
      'called.mjs': `${settingsModule('sqlite:./latchkey.db').replace('export default', 'export default async () => (')})`,
      'common.cjs': settingsModule('sqlite:./latchkey.db').replace('export default', 'module.exports ='),
      'nested.cjs': settingsModule('sqlite:./latchkey.db').replace('export default', 'exports.settings ='),
    }
    await mkdir(join(desk.folder, 'elsewhere'))
    for (const [name, text] of Object.entries(shapes)) {
      await writeFile(join(desk.folder, name), text)
      const run = await desk.run(['tokens', '--config', `../${name}`], { folder: join(desk.folder, 'elsewhere') })
      expect(run).toMatchObject({ code: 0 })
    }
    await rm(config)
    await symlink('named.mjs', config)
    expect(await desk.run(['tokens'])).toMatchObject({ code: 0 })
  })

  test('that is missing, throws or exports nothing is a sentence', async () => {
    const desk = await openLocalDesk()
    await refused(desk, ['tokens', '--config', 'no.mjs'], 'There is no file')
    // Node 20 reads the option itself, wherever it stands, and ends with a sentence of its own.
    const noEnv = await desk.run(['tokens', '--env-file', 'no.env'])
    expect(noEnv.code).not.toBe(0)
    expect(noEnv.stderr).toContain('no.env')
    await writeFile(join(desk.folder, 'throws.mjs'), "throw new Error('no vault')")
    await refused(desk, ['tokens', '--config', 'throws.mjs'], 'throws.mjs does not load: no vault')
    await writeFile(join(desk.folder, 'empty.mjs'), '')
    await refused(desk, ['tokens', '--config', 'empty.mjs'], 'exports neither')
  })

  test('may use what is experimental in Node, about which the tool prints no warning', async () => {
    const desk = await openLocalDesk()
    await desk.run(['migrate'])
    const warnings = "process.emitWarning('new', 'ExperimentalWarning')\nprocess.emitWarning('loud')\n"
    const config = join(desk.folder, 'latchkey.config.mjs')
    await writeFile(config, warnings + settingsModule('sqlite:./latchkey.db'))
    expect(await desk.run(['tokens', '--json'])).toMatchObject({ code: 0, stderr: 'Warning: loud\n' })
  })

  test('in TypeScript works where Node strips types, and elsewhere names the version', async () => {
    const desk = await openLocalDesk()
    await desk.run(['migrate'])
    await rename(join(desk.folder, 'latchkey.config.mjs'), join(desk.folder, 'latchkey.config.ts'))
    await writeFile(join(desk.folder, 'package.json'), '{ "type": "module" }')
    const { code, stderr } = await desk.run(['tokens'])
    const strips = 'typescript' in process.features && Boolean(process.features.typescript)
    expect(code).toBe(strips ? 0 : 2)
    if (!strips) expect(stderr).toContain('Use Node 22.18 or later')
  })

  test('sees .env beside it, which sets no variable that is set already', async () => {
    const desk = await openLocalDesk()
    const fresh = testSettings()
    const env = { JWT_ACCESS_TOKEN_SECRET: String(fresh.JWT_ACCESS_TOKEN_SECRET), JWT_REFRESH_TOKEN_SECRET: 'short' }
    const { code, stderr } = await desk.run(['migrate'], { env })
    expect(code).toBe(2)
    expect(stderr).toContain('JWT_REFRESH_TOKEN_SECRET: has fewer than 32 bytes')
    await writeFile(join(desk.folder, 'other.env'), 'JWT_REFRESH_TOKEN_SECRET=short\n', { mode: 0o600 })
    await refused(desk, ['migrate', '--env-file', 'other.env'], 'JWT_REFRESH_TOKEN_SECRET: has fewer than 32 bytes')
  })
})
