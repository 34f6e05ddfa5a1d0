// @ts-nocheck It runs unbuilt, in the processes that tests start.
import { SqliteDialect } from 'kysely'
import { hasBetterSqlite } from './addons.js'

const { default: Database } = await import(hasBetterSqlite ? 'better-sqlite3' : './node-sqlite.js')

/** A real SQLite file that cannot be reached while `world.storeDown` says so, as when its disk is gone. */
export function breakableDialect(file, world) {
  const database = new Database(file)
  database.pragma('journal_mode = wal')

  function reach(sql) {
    if (world.storeDown && !/^\s*rollback/i.test(sql)) {
      throw Object.assign(new Error('disk I/O error'), { code: 'SQLITE_IOERR' })
    }
  }

  return new SqliteDialect({
    database: {
      close: () => database.close(),
      prepare(sql) {
        const statement = database.prepare(sql)
        const guarded = (run) => (parameters) => {
          reach(sql)
          return run(parameters)
        }
        return {
          reader: statement.reader,
          all: guarded((parameters) => statement.all(parameters)),
          run: guarded((parameters) => statement.run(parameters)),
          iterate: guarded((parameters) => statement.iterate(parameters)),
        }
      },
    },
  })
}
