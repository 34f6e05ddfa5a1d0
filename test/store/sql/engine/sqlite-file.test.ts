import { chmod, mkdir, readdir, stat, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { CompiledQuery } from 'kysely'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { isLastByRole } from '../../../../src/store/accounts/last-admin.js'
import { createAudit } from '../../../../src/store/audit/log.js'
import { readSnapshot } from '../../../../src/store/sql/audit-snapshot.js'
import { type Connection, connect } from '../../../../src/store/sql/engine/connect.js'
import { sqliteCodeOf } from '../../../../src/store/sql/engine/retry.js'
import { explainFileError } from '../../../../src/store/sql/engine/sqlite-file.js'
import { createSteps } from '../../../../src/store/sql/engine/steps.js'
import { migrations, migrationsTable } from '../../../../src/store/sql/migrations/list.js'
import { migrate } from '../../../../src/store/sql/migrations/migrate.js'
import { openSqlStore } from '../../../../src/store/sql/store.js'
import type { Store } from '../../../../src/store/store.js'
import { anEvent, createdUser } from '../../../contracts/store/rows.js'
import { storeOptions, temporaryFolder } from '../../../support/databases.js'

const nobody = 65_534

let folder: Awaited<ReturnType<typeof temporaryFolder>>
let file: string
const toClose: { close(): Promise<void> }[] = []

beforeEach(async () => {
  folder = await temporaryFolder()
  file = join(folder.path, 'latchkey.db')
})
afterEach(async () => {
  await Promise.all(toClose.splice(0).map((each) => each.close()))
  await folder.remove()
})

async function open(path = file): Promise<Store> {
  const store = await openSqlStore({ ...storeOptions(), database: { kind: 'sqlite', file: path } })
  toClose.push(store)
  return store
}

async function connected(path = file): Promise<Connection> {
  const connection = await connect({ kind: 'sqlite', file: path }, () => 0)
  toClose.push({ close: () => connection.db.destroy() })
  return connection
}

async function pragma(connection: Connection, name: string): Promise<unknown> {
  const { rows } = await connection.db.executeQuery<Record<string, unknown>>(CompiledQuery.raw(`pragma ${name}`))
  return Object.values(rows[0] ?? {})[0]
}

async function modes(): Promise<Record<string, string>> {
  const names = await readdir(folder.path)
  const entries = names.map(async (name) => {
    const { mode } = await stat(join(folder.path, name))
    return [name, (mode & 0o777).toString(8)]
  })
  return Object.fromEntries(await Promise.all(entries))
}

/** As a user to whom permissions apply: root may read and write everything. */
async function asOrdinaryUser<T>(run: () => Promise<T>): Promise<T> {
  if (process.geteuid?.() !== 0) return run()
  process.seteuid?.(nobody)
  try {
    return await run()
  } finally {
    process.seteuid?.(0)
  }
}

describe('the connection', () => {
  test("uses node's own driver where Node has it, else better-sqlite3", async () => {
    const { driver } = await connected()
    const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)
    const hasOwn = major > 22 || (major === 22 && minor >= 16)
    expect(driver).toBe(hasOwn ? 'node:sqlite' : 'better-sqlite3')
  })

  test('writes ahead, loses no commit on a power loss, checks foreign keys and blocks for 50 ms at most', async () => {
    const connection = await connected()
    expect(await pragma(connection, 'journal_mode')).toBe('wal')
    expect(await pragma(connection, 'synchronous')).toBe(2)
    expect(await pragma(connection, 'foreign_keys')).toBe(1)
    expect(await pragma(connection, 'busy_timeout')).toBe(50)
  })

  test('a database in memory leaves no file behind', async () => {
    const store = await open(':memory:')
    const user = await createdUser(store)
    expect(await store.users.findById(user.id)).toEqual(user)
    expect(await readdir('.')).not.toContain(':memory:')
  })

  test('what was committed is there after the file was closed and opened again', async () => {
    const first = await open()
    const user = await createdUser(first)
    await first.close()
    const second = await open()
    expect(await second.users.findById(user.id)).toEqual(user)
    expect(second.installationId).toBe(first.installationId)
  })
})

describe('the mode of the file', () => {
  test.each([0o000, 0o022, 0o277])(
    'database and journal are for the owner alone, whatever the umask (%o)',
    async (umask) => {
      const before = process.umask(umask)
      try {
        await createdUser(await open())
      } finally {
        process.umask(before)
      }
      expect(await modes()).toEqual({ 'latchkey.db': '600', 'latchkey.db-wal': '600', 'latchkey.db-shm': '600' })
    },
  )

  test('a file that exists keeps the mode that its owner gave it', async () => {
    await writeFile(file, '')
    await chmod(file, 0o640)
    await createdUser(await open())
    expect(await modes()).toMatchObject({ 'latchkey.db': '640', 'latchkey.db-wal': '640' })
  })
})

describe('a database that cannot be opened says why', () => {
  test('the folder does not exist', async () => {
    const missing = join(folder.path, 'missing')
    await expect(open(join(missing, 'latchkey.db'))).rejects.toThrow(
      `database: the folder ${missing} does not exist. Create it.`,
    )
  })

  test('the folder is a file', async () => {
    await writeFile(file, '')
    await expect(open(join(file, 'latchkey.db'))).rejects.toThrow(
      `database: ${file} is not a folder. Choose another path.`,
    )
  })

  test('the file is a folder', async () => {
    await mkdir(file)
    await expect(open()).rejects.toThrow(`database: ${file} is not a file. Choose another path.`)
  })

  test('the file is a link to nothing, through which it would be made for everybody to read', async () => {
    await symlink(join(folder.path, 'elsewhere.db'), file)
    await expect(open()).rejects.toThrow(`database: ${file} is not a file. Choose another path.`)
    expect(await readdir(folder.path)).toEqual(['latchkey.db'])
  })

  test('the folder is read-only', async () => {
    await chmod(folder.path, 0o555)
    await expect(asOrdinaryUser(() => open())).rejects.toThrow(
      `database: the folder ${folder.path} is read-only for this process. Grant it write permission.`,
    )
  })

  test('the file is read-only', async () => {
    await (await open()).close()
    await chmod(folder.path, 0o777)
    await chmod(file, 0o444)
    await expect(asOrdinaryUser(() => open())).rejects.toThrow(
      `database: ${file} or its folder is read-only for this process. Grant it write permission.`,
    )
  })

  test('the file is not to be read', async () => {
    await (await open()).close()
    await chmod(folder.path, 0o777)
    await expect(asOrdinaryUser(() => open())).rejects.toThrow(
      `database: ${file} cannot be opened. Grant this process read and write permission for the file and its folder.`,
    )
  })

  test('the file is no database', async () => {
    await writeFile(file, 'This is a text, and long enough to be taken for the header of a database. '.repeat(20))
    await expect(open()).rejects.toThrow(`database: ${file} is not an SQLite database. Choose another path.`)
  })

  test('the file is damaged', async () => {
    await (await open()).close()
    const { size } = await stat(file)
    const header = Buffer.from('SQLite format 3\0')
    await writeFile(file, Buffer.concat([header, Buffer.alloc(size - header.length, 0xff)]))
    await expect(open()).rejects.toThrow(
      /^database: .* (is damaged\. Restore it from a backup|is not an SQLite database\. Choose another path)\.$/,
    )
  })

  test('the failure is a plain error with the cause, and no AuthError that hides it', async () => {
    const error: unknown = await open(join(folder.path, 'missing', 'latchkey.db')).catch((thrown: unknown) => thrown)
    expect(error).toMatchObject({ name: 'Error', cause: { code: 'ENOENT' } })
  })
})

describe('a full disk', () => {
  /** A store on a file that may not grow any more. */
  async function onFullDisk() {
    const connection = await connected()
    await migrate({ ...storeOptions(), ...connection, migrations, table: migrationsTable })
    const steps = createSteps({ ...storeOptions(), ...connection, isLastAdmin: isLastByRole })
    const pages = await pragma(connection, 'page_count')
    await pragma(connection, `max_page_count = ${pages}`)
    return createAudit(steps, () => readSnapshot(steps))
  }

  const large = () => anEvent({ userAgent: 'x'.repeat(200_000) })

  test('fails the step with its cause, undoes it whole, and lets smaller ones go on', async () => {
    const audit = await onFullDisk()
    const error: unknown = await audit.record(large()).catch((thrown: unknown) => thrown)
    expect(error).toMatchObject({ code: 'store_unavailable' })
    expect(sqliteCodeOf(error instanceof Error ? error.cause : null)).toBe('FULL')
    expect(await audit.list({ limit: 10 })).toEqual([])

    const small = anEvent()
    await audit.record(small)
    expect(await audit.list({ limit: 10 })).toEqual([small])
  })

  test('is named when the file is opened', async () => {
    const audit = await onFullDisk()
    const error: unknown = await audit.record(large()).catch((thrown: unknown) => thrown)
    const explained = explainFileError(error instanceof Error ? error.cause : null, file)
    expect(explained).toMatchObject({ message: `database: the disk of ${folder.path} is full. Free some space.` })
  })
})
