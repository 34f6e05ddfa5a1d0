import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { StoreError } from '../../../src/host/documents/store-error.js'
import { encode, encodeParsed } from '../../../src/host/documents/values.js'
import type { Documents } from '../../../src/host/ports.js'
import { importPieces } from '../../../src/host/workers/program/import.js'
import type { ImportState, ImportTask } from '../../../src/host/workers/tasks.js'

const task: ImportTask = { kind: 'import', collection: 'notes', upsert: false, dryrun: false }

const linesFrom = (first: number, count: number) =>
  Buffer.from(Array.from({ length: count }, (_, n) => `{"_id":"n${first + n}"}\n`).join(''))

/** Imports the pieces into a store that runs `write` for each batch. `batches` lists how many documents it was given. */
function importing(pieces: AsyncIterable<Uint8Array>, write: () => Promise<void> = async () => {}) {
  const batches: number[] = []
  const states: ImportState[] = []
  const unused = () => Promise.reject(new Error('An import only writes.'))
  const documents: Documents = {
    ...{
      get: unused,
      put: unused,
      remove: unused,
      scan: unused,
      changeMany: unused,
      count: unused,
      drop: unused,
      list: unused,
    },
    async putMany(_collection, rows) {
      batches.push(rows.length)
      await write()
      return []
    },
  }
  const report = async (state: ImportState) => void states.push(state)
  const done = importPieces({ documents, newId: () => 'x', documentBytes: 1_000, report }, task, pieces)
  return { done, batches, states }
}

/** A promise that the test settles. */
function gate() {
  let open = () => {}
  const opened = new Promise<void>((resolve) => {
    open = resolve
  })
  return { opened, open }
}

const turn = () => new Promise((resolve) => setImmediate(resolve))

describe('an import', () => {
  test('writes a full batch while the client still sends', async () => {
    const rest = gate()
    async function* pieces() {
      yield linesFrom(0, 1_000)
      await rest.opened
    }
    const { done, batches, states } = importing(pieces())
    await turn()
    expect(batches).toEqual([1_000])
    expect(states).toEqual([{ processed: 1_000, imported: 1_000, faults: 0 }])
    rest.open()
    expect(await done).toMatchObject({ outcome: { imported: 1_000 }, error: null })
    expect(batches).toEqual([1_000])
  })

  test('reads the next batch while one is written, and never two', async () => {
    const written = gate()
    const sent: number[] = []
    async function* pieces() {
      for (let at = 0; at < 4; at += 1) {
        sent.push(at)
        yield linesFrom(1_000 * at, 1_000)
      }
    }
    const { done, batches } = importing(pieces(), () => written.opened)
    for (let turns = 0; turns < 5; turns += 1) await turn()
    expect(batches).toEqual([1_000])
    expect(sent).toEqual([0, 1])
    written.open()
    expect((await done).outcome).toMatchObject({ processed: 4_000, imported: 4_000 })
  })

  test('counts the batch that is being written when the upload breaks off', async () => {
    const written = gate()
    const broken = new StoreError('store_unavailable', 'The upload broke off.')
    async function* pieces() {
      yield linesFrom(0, 1_000)
      yield linesFrom(1_000, 3)
      throw broken
    }
    const { done } = importing(pieces(), () => written.opened)
    await turn()
    written.open()
    expect(await done).toMatchObject({ outcome: { processed: 1_000, imported: 1_000, faults: 0 }, error: broken })
  })

  test('ends at once when the store refuses a batch, also while the client is slow, and whatever comes of the upload', async () => {
    const rest = gate()
    const full = new StoreError('quota_exceeded', 'The space is full.')
    async function* pieces() {
      yield linesFrom(0, 1_500)
      await rest.opened
      throw new Error('nobody reads this')
    }
    const { done } = importing(pieces(), () => Promise.reject(full))
    expect(await done).toMatchObject({ outcome: { imported: 0 }, error: full })
    rest.open()
    await turn()
  })

  test('of lines that are all faulty asks the store for nothing, and of no lines reports nothing', async () => {
    async function* faulty() {
      yield Buffer.from('no JSON\n\n'.repeat(1_200))
    }
    const refusing = importing(faulty(), () => Promise.reject(new StoreError('quota_exceeded', 'The space is full.')))
    expect(await refusing.done).toMatchObject({ outcome: { processed: 2_400, faults: 1_200 }, error: null })
    expect(refusing.batches).toEqual([])
    async function* none() {}
    const empty = importing(none())
    expect(await empty.done).toMatchObject({ outcome: { processed: 0, imported: 0, faults: 0 }, error: null })
    expect(empty.states).toEqual([])
  })
})

test('a parsed document is encoded as any other', () => {
  fc.assert(
    fc.property(fc.dictionary(fc.string(), fc.jsonValue()), (value) => {
      const parsed: Record<string, unknown> = JSON.parse(JSON.stringify(value))
      const textOf = (run: () => string) => {
        try {
          return run()
        } catch (error) {
          return error instanceof StoreError ? error.message : 'another error'
        }
      }
      expect(textOf(() => encodeParsed(parsed))).toBe(textOf(() => encode(parsed)))
    }),
  )
})
