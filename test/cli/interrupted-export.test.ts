import { readdir, readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test, vi } from 'vitest'
import { hasBetterSqlite } from '../support/addons.js'
import { line, startControlServer } from '../support/control-server.js'
import { startHostControlServer } from '../support/host-control-server.js'
import { type LocalDesk, openLocalDesk } from '../support/local-desk.js'
import { openDesk } from '../support/tool.js'

const signals = ['SIGINT', 'SIGTERM'] as const

/** A Kysely dialect over the SQLite file. Of the pages that an export reads, the fourth does this instead. */
function dialectModule(file: string, atFourthPage: string): string {
  return `import Database from '${import.meta.resolve('better-sqlite3')}'
import { SqliteDialect } from '${import.meta.resolve('kysely')}'

class Dialect extends SqliteDialect {
  createDriver() {
    const driver = super.createDriver()
    const acquire = driver.acquireConnection.bind(driver)
    driver.acquireConnection = async () => watched(await acquire())
    return driver
  }
}

const seen = new WeakSet()
let pages = 0

function watched(connection) {
  if (seen.has(connection)) return connection
  seen.add(connection)
  const execute = connection.executeQuery.bind(connection)
  connection.executeQuery = async (query) => {
    if (query.sql.includes('from "latchkey_users"') && query.sql.includes('limit') && ++pages === 4) ${atFourthPage}
    return execute(query)
  }
  return connection
}

const database = new Dialect({ database: new Database('${file}') })
`
}

/** 700 accounts: an export has written the first 500 to its file when it reads the fourth page. */
async function accountsWith(atFourthPage: string): Promise<LocalDesk> {
  const desk = await openLocalDesk()
  await desk.run(['migrate'])
  const input = Array.from({ length: 700 }, (_, index) => JSON.stringify({ email: `user${index}@example.org` }))
  expect(await desk.run(['users', 'import', '-'], { input: input.join('\n') })).toMatchObject({ code: 0 })
  const config = join(desk.folder, 'latchkey.config.mjs')
  const settings = (await readFile(config, 'utf8')).replace(/database: .*/, 'database,')
  await writeFile(config, dialectModule(join(desk.folder, 'latchkey.db'), atFourthPage) + settings)
  return desk
}

async function exportsIn(folder: string): Promise<string[]> {
  return (await readdir(folder)).filter((name) => name.includes('jsonl'))
}

describe('an export that does not end', { timeout: 60_000 }, () => {
  test.skipIf(!hasBetterSqlite).each(signals)(
    'ATK-145 of accounts leaves no file with password hashes behind after %s',
    async (signal) => {
      const desk = await accountsWith('return new Promise(() => {})')
      const part = join(desk.folder, 'accounts.jsonl.part')
      const isReady = () =>
        vi.waitFor(async () => expect((await stat(part)).size).toBeGreaterThan(0), { timeout: 30_000, interval: 20 })
      const { code, stdout } = await desk.interrupt(['users', 'export', '-f', 'accounts.jsonl'], signal, isReady)
      expect(await exportsIn(desk.folder)).toEqual([])
      expect({ code, stdout }).toEqual({ code: 130, stdout: '' })
    },
  )

  test.skipIf(!hasBetterSqlite)('ATK-145 because the database fails leaves no file behind', async () => {
    const desk = await accountsWith("throw new Error('the disk is gone')")
    const { code, stdout } = await desk.run(['users', 'export', '-f', 'accounts.jsonl'])
    expect(await exportsIn(desk.folder)).toEqual([])
    expect({ code, stdout }).toEqual({ code: 5, stdout: '' })
  })

  test.each(signals)('of a collection stays a .part after %s, and is named', async (signal) => {
    const [desk, server] = await Promise.all([openDesk(), startHostControlServer()])
    await desk.signIn(server.api)
    server.answer('GET /spaces/dev/collections/users/export', (_, response) => {
      response.writeHead(200, { 'content-type': 'application/jsonl' })
      response.write('{"_id":"1"}\n'.repeat(300))
      return null
    })
    const part = join(desk.folder, 'users.jsonl.part')
    const isReady = () =>
      vi.waitFor(async () => expect((await stat(part)).size).toBeGreaterThan(0), { timeout: 30_000, interval: 20 })
    const args = ['export', 'users', '-f', 'users.jsonl', '--url', server.url]
    const { code, stderr } = await desk.interrupt(args, signal, isReady)
    expect(await exportsIn(desk.folder)).toEqual(['users.jsonl.part'])
    expect(stderr).toContain(`What arrived is in ${part}. It is not whole.\n`)
    expect(code).toBe(130)
  })

  test.each(signals)('of the audit log leaves no file behind after %s', async (signal) => {
    const [desk, server] = await Promise.all([openDesk(), startControlServer()])
    await desk.signIn(server.api)
    const event = `${JSON.stringify(line.event)}\n`
    server.answer('GET /audit.jsonl', ({ query }) =>
      query.get('cursor') === null ? { body: event, headers: { 'x-next-cursor': 'more' } } : null,
    )
    const hasBegun = () => expect(server.to('GET /audit.jsonl')).toHaveLength(2)
    const isReady = () => vi.waitFor(hasBegun, { timeout: 30_000, interval: 20 })
    const args = ['audit', 'export', '-f', 'audit.jsonl', '--url', server.url]
    const { code, stdout } = await desk.interrupt(args, signal, isReady)
    expect(await exportsIn(desk.folder)).toEqual([])
    expect({ code, stdout }).toEqual({ code: 130, stdout: '' })
  })
})
