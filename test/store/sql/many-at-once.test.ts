import { describe, expect, onTestFinished, test } from 'vitest'
import { openSqlStore } from '../../../src/store/sql/store.js'
import type { Store } from '../../../src/store/store.js'
import { keptApiToken } from '../../contracts/store/api-tokens.js'
import { createdUser, now, openedSession } from '../../contracts/store/rows.js'
import { storeOptions } from '../../support/databases.js'
import { createDatastoreBed } from '../../support/datastores.js'
import { watchedDatabase } from '../../support/watched-database.js'

/** As many as one batch has; all but the last of them are gone. */
function batchOf(last: string): string[] {
  return [...Array.from({ length: 199 }, (_, index) => `gone-${index}`), last]
}

const proofsOf = (ids: readonly string[]) => ids.map((sessionId) => ({ sessionId, counter: 0, ageMs: 5 }))
const usesOf = (ids: readonly string[]) => ids.map((id, index) => ({ id, at: now + (index % 2) }))

async function lastUse(store: Store, tokenHash: string): Promise<number | null | undefined> {
  return (await store.apiTokens.findByHash([tokenHash]))?.lastUsedAt
}

describe('a Datastore is asked once for the rows of a step, of which there are fifty at most', () => {
  async function watched() {
    const bed = await createDatastoreBed()
    onTestFinished(bed.close)
    const calls: string[] = []
    const store = await bed.open({ before: async (name) => void calls.push(name) })
    async function finds(run: () => Promise<unknown>): Promise<number> {
      calls.length = 0
      await run()
      return calls.filter((name) => name === 'getMany').length
    }
    return { store, finds }
  }

  test('to note the last uses of API tokens', async () => {
    const { store, finds } = await watched()
    const token = await keptApiToken(store)
    expect(await finds(() => store.apiTokens.touch(usesOf(batchOf(token.id))))).toBe(4)
    expect(await lastUse(store, token.tokenHash)).toBe(now + 1)
    expect(await finds(() => store.apiTokens.touch([]))).toBe(0)
  })

  test('to note which rotations were seen', async () => {
    const { store, finds } = await watched()
    const session = await openedSession(store, await createdUser(store))
    expect(await finds(() => store.sessions.prove(proofsOf(batchOf(session.id))))).toBe(4)
    expect((await store.sessions.find(session.id))?.session.provenAtMs).toBe(now * 1_000 - 5)
    expect(await finds(() => store.sessions.prove([]))).toBe(0)
  })
})

describe('a SQL database holds no row for as long as a whole batch takes', () => {
  async function watched() {
    const statements: string[] = []
    const { dialect } = watchedDatabase({ before: (sql) => void statements.push(sql) })
    const store = await openSqlStore({ ...storeOptions(), database: { kind: 'dialect', dialect } })
    onTestFinished(() => store.close())
    /** How many updates are made between `begin` and `commit`, for each transaction; those outside of one are alone. */
    async function shares(run: () => Promise<unknown>): Promise<number[]> {
      statements.length = 0
      await run()
      const counts: number[] = []
      let within = false
      for (const sql of statements) {
        if (/^begin/.test(sql)) counts.push(0)
        if (/^(begin|commit)/.test(sql)) within = sql.startsWith('begin')
        else if (within) counts.push((counts.pop() ?? 0) + 1)
        else counts.push(1)
      }
      return counts
    }
    return { store, shares }
  }

  test('the last uses of API tokens are one statement for each second', async () => {
    const { store, shares } = await watched()
    const token = await keptApiToken(store)
    expect(await shares(() => store.apiTokens.touch(usesOf(batchOf(token.id))))).toEqual([1, 1])
    expect(await lastUse(store, token.tokenHash)).toBe(now + 1)
    expect(await shares(() => store.apiTokens.touch([]))).toEqual([])
  })

  test('rotations that were seen are noted twenty in a transaction', async () => {
    const { store, shares } = await watched()
    const session = await openedSession(store, await createdUser(store))
    const proofs = proofsOf(batchOf(session.id))
    expect(await shares(() => store.sessions.prove(proofs))).toEqual(Array.from({ length: 10 }, () => 20))
    expect((await store.sessions.find(session.id))?.session.provenAtMs).toBe(now * 1_000 - 5)
    expect(await shares(() => store.sessions.prove([]))).toEqual([])
  })
})
