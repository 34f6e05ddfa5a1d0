import { describe, expect, onTestFinished, test } from 'vitest'
import type { KeyValues } from '../../../src/host/ports.js'

export interface KeyValuesBed {
  keyValues: KeyValues
  /** Moves the clock of a store that does not ask `now`. */
  advance?(milliseconds: number): Promise<void>
  close(): Promise<void>
}

/** What every store of key-value pairs promises. `now` is the clock, in milliseconds. */
export function keyValuesContract(name: string, open: (now: () => number) => Promise<KeyValuesBed>): void {
  async function store(): Promise<{ keyValues: KeyValues; advance(ms: number): Promise<void> }> {
    let time = Date.UTC(2026, 0, 1)
    const { keyValues, advance, close } = await open(() => time)
    onTestFinished(close)
    return {
      keyValues,
      async advance(ms) {
        time += ms
        await advance?.(ms)
      },
    }
  }

  const named = (key: string, keyspace = '') => ({ keyspace, key })

  describe(`key-value pairs on ${name}`, () => {
    test('a value is kept as it was sent, and a missing one is null', async () => {
      const { keyValues } = await store()
      for (const value of ['', '{}', 'naïve \u0000 😀', '007']) {
        await keyValues.set(named('k'), value, null)
        expect(await keyValues.get(named('k'))).toBe(value)
      }
      expect(await keyValues.get(named('K'))).toBeNull()
    })

    test('keyspaces do not see each other', async () => {
      const { keyValues } = await store()
      await keyValues.set(named('k', 'one'), '1', null)
      await keyValues.set(named('k'), '2', null)
      expect(await keyValues.get(named('k', 'one'))).toBe('1')
      expect(await keyValues.remove(named('k', 'one'))).toBe(true)
      expect(await keyValues.remove(named('k', 'one'))).toBe(false)
      expect(await keyValues.get(named('k'))).toBe('2')
    })

    test('a pair ends with its lifetime in every call', async () => {
      const { keyValues, advance } = await store()
      await keyValues.set(named('k'), '5', 1_000)
      await advance(999)
      expect(await keyValues.get(named('k'))).toBe('5')
      await advance(1)
      expect(await keyValues.get(named('k'))).toBeNull()
      expect((await keyValues.page('', '', null)).rows).toEqual([])
      expect(await keyValues.remove(named('k'))).toBe(false)
      await keyValues.set(named('k'), '5', 1_000)
      await advance(1_000)
      expect(await keyValues.increment(named('k'), 1, null)).toBe(1)
    })

    test('a set without a lifetime takes the earlier one away', async () => {
      const { keyValues, advance } = await store()
      await keyValues.set(named('k'), '1', 1_000)
      await keyValues.set(named('k'), '2', null)
      await advance(1_000)
      expect(await keyValues.get(named('k'))).toBe('2')
    })

    test('an increment begins at 0, gives each caller a sum of its own, and keeps a lifetime unless one is given', async () => {
      const { keyValues, advance } = await store()
      const sums = await Promise.all(Array.from({ length: 50 }, () => keyValues.increment(named('k'), 1, null)))
      expect(new Set(sums).size).toBe(50)
      expect(Math.max(...sums)).toBe(50)
      expect(await keyValues.increment(named('k'), -0.5, null)).toBe(49.5)
      expect(await keyValues.increment(named('t'), 1, 1_000)).toBe(1)
      await advance(600)
      expect(await keyValues.increment(named('t'), 1, null)).toBe(2)
      await advance(400)
      expect(await keyValues.increment(named('t'), 1, 1_000)).toBe(1)
      await advance(600)
      expect(await keyValues.increment(named('t'), 1, 1_000)).toBe(2)
      await advance(600)
      expect(await keyValues.get(named('t'))).toBe('2')
    })

    test('what is no number is not incremented', async () => {
      const { keyValues } = await store()
      for (const value of ['', 'x', '{}']) {
        await keyValues.set(named('k'), value, null)
        await expect(keyValues.increment(named('k'), 1, null)).rejects.toMatchObject({ code: 'query_invalid' })
        expect(await keyValues.get(named('k'))).toBe(value)
      }
    })

    test('pages hold the keys of a prefix in the order of their bytes, also where the prefix has signs of SQL', async () => {
      const { keyValues } = await store()
      const keys = ['a%b:1', 'a%b:10', 'a%b:2', 'a%b:\u{10000}', 'a%b:\u{ffff}']
      for (const key of [...keys, 'aXb:1', 'A%B:1', 'a%', 'b']) await keyValues.set(named(key), key, null)
      const page = await keyValues.page('', 'a%b:', null)
      const sorted = [...keys].sort((one, other) => Buffer.compare(Buffer.from(one), Buffer.from(other)))
      expect(page).toEqual({ rows: sorted.map((key) => ({ key, value: key })), next: null })
      expect((await keyValues.page('', 'a%b:', 'a%b:10')).rows.map(({ key }) => key)).toEqual(sorted.slice(2))
    })

    test('all pairs are read and removed page by page', async () => {
      const { keyValues } = await store()
      for (let n = 0; n < 2_500; n += 1) await keyValues.set(named(`p:${n}`), String(n), null)
      await keyValues.set(named('other'), '', null)
      const seen: string[] = []
      let after: string | null = null
      do {
        const { rows, next }: Awaited<ReturnType<KeyValues['page']>> = await keyValues.page('', 'p:', after)
        seen.push(...rows.map(({ key }) => key))
        after = next
      } while (after !== null)
      expect(new Set(seen).size).toBe(2_500)
      let removed = 0
      for (let count = -1; count !== 0; removed += count) count = await keyValues.removePage('', 'p:')
      expect(removed).toBe(2_500)
      expect((await keyValues.page('', '', null)).rows).toEqual([{ key: 'other', value: '' }])
    })
  })
}
