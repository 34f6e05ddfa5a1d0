import Database from 'better-sqlite3'
import { expect, test } from 'vitest'
import { StoreError } from '../../../src/host/documents/store-error.js'
import { judgeFault, reasonOf } from '../../../src/host/storage/messages.js'

/** What SQLite throws for a statement. */
function errorOf(sql: string, before = ''): unknown {
  const database = new Database(':memory:')
  try {
    database.exec(before)
    database.exec(sql)
    return null
  } catch (error) {
    return error
  } finally {
    database.close()
  }
}

test('ATK-201 a full disk is quota_exceeded, and the log learns of it', () => {
  const full = errorOf('insert into t values (zeroblob(1000000))', 'create table t (x); pragma max_page_count = 10')
  expect(judgeFault(full)).toMatchObject({ code: 'quota_exceeded' })
  expect(reasonOf(full)).toBe('SQLITE_FULL')
})

test('of other errors the caller learns nothing, and the log a code or class', () => {
  for (const error of [errorOf('select secret from nowhere'), new TypeError('secret'), 'secret', null]) {
    const { code, message } = judgeFault(error)
    expect([code, message.includes('secret')]).toEqual(['store_unavailable', false])
    expect(reasonOf(error)).not.toContain('secret')
  }
  const own = new StoreError('not_current', 'It changed.')
  expect([judgeFault(own), reasonOf(own)]).toEqual([own, null])
})
