import { describe, expect, onTestFinished, test } from 'vitest'
import type { Documents, ScanOptions } from '../../../src/host/ports.js'

export interface DocumentsBed {
  documents: Documents
  close(): Promise<void>
}

const whole: ScanOptions = { after: null, reverse: false, limit: 1_000 }

/** What every store of documents promises. */
export function documentsContract(name: string, open: () => Promise<DocumentsBed>): void {
  async function store(): Promise<Documents> {
    const { documents, close } = await open()
    onTestFinished(close)
    return documents
  }

  describe(`documents on ${name}`, () => {
    test('a document is kept as it was sent, and a missing one is null', async () => {
      const documents = await store()
      const body = '{"_id":"Ä","text":"naïve \\u0000 😀","list":[1,2.5,null]}'
      const version = await documents.put('notes', 'Ä', body, 'absent')
      expect(await documents.get('notes', 'Ä')).toEqual({ id: 'Ä', version, body })
      expect(await documents.get('notes', 'ä')).toBeNull()
      expect(await documents.get('others', 'Ä')).toBeNull()
    })

    test('a put with the version that was read wins once', async () => {
      const documents = await store()
      const first = await documents.put('notes', 'a', '{"n":1}', 'absent')
      const second = await documents.put('notes', 'a', '{"n":2}', first)
      await expect(documents.put('notes', 'a', '{"n":3}', first)).rejects.toMatchObject({ code: 'not_current' })
      await expect(documents.put('notes', 'a', '{"n":3}', 'absent')).rejects.toMatchObject({ code: 'not_current' })
      await expect(documents.put('notes', 'b', '{"n":3}', second)).rejects.toMatchObject({ code: 'not_current' })
      expect(await documents.get('notes', 'a')).toMatchObject({ version: second, body: '{"n":2}' })
      await documents.put('notes', 'a', '{"n":4}', 'any')
      await documents.put('notes', 'c', '{"n":5}', 'any')
      expect(await documents.count('notes')).toBe(2)
    })

    test('of many that put at once with one version, one wins', async () => {
      const documents = await store()
      const version = await documents.put('notes', 'a', '{}', 'absent')
      const puts = Array.from({ length: 20 }, (_, n) => documents.put('notes', 'a', `{"n":${n}}`, version))
      const settled = await Promise.allSettled(puts)
      expect(settled.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
    })

    test('ATK-205 a document that was removed and made again has another version', async () => {
      const documents = await store()
      const first = await documents.put('notes', 'a', '{"n":1}', 'absent')
      expect(await documents.remove('notes', 'a', first)).toBe(true)
      const again = await documents.put('notes', 'a', '{"n":1}', 'absent')
      expect(again).not.toBe(first)
      await expect(documents.put('notes', 'a', '{"n":2}', first)).rejects.toMatchObject({ code: 'not_current' })
      await expect(documents.remove('notes', 'a', first)).rejects.toMatchObject({ code: 'not_current' })
      await documents.drop('notes')
      expect([first, again]).not.toContain(await documents.put('notes', 'a', '{"n":1}', 'absent'))
    })

    test('removing what is not there is no fault, unless a version is named', async () => {
      const documents = await store()
      expect(await documents.remove('notes', 'a', 'any')).toBe(false)
      await expect(documents.remove('notes', 'a', 1)).rejects.toMatchObject({ code: 'not_current' })
      await documents.put('notes', 'a', '{}', 'any')
      expect(await documents.remove('notes', 'a', 'any')).toBe(true)
      expect(await documents.count('notes')).toBe(0)
    })

    test('a scan is in the order of the bytes, in both directions', async () => {
      const documents = await store()
      const ids = ['a', 'B', 'aa', 'Z', '10', '9', 'ä', '\u{ffff}', '\u{10000}', 'z']
      for (const id of ids) await documents.put('notes', id, '{}', 'absent')
      const sorted = [...ids].sort((one, other) => Buffer.compare(Buffer.from(one), Buffer.from(other)))
      const up = await documents.scan('notes', whole)
      expect(up.documents.map(({ id }) => id)).toEqual(sorted)
      const down = await documents.scan('notes', { ...whole, reverse: true })
      expect(down.documents.map(({ id }) => id)).toEqual(sorted.reverse())
      expect([up.next, down.next]).toEqual([null, null])
    })

    test.each([[false], [true]])(
      'a scan goes on where its page ended, reverse %s, although documents come and go',
      async (reverse) => {
        const documents = await store()
        const ids = Array.from({ length: 25 }, (_, n) => `id-${String(n).padStart(2, '0')}`)
        for (const id of ids) await documents.put('notes', id, '{}', 'absent')
        const seen: string[] = []
        let after: string | null = null
        do {
          const page = await documents.scan('notes', { after, reverse, limit: 7 })
          expect(page.documents.length).toBeLessThanOrEqual(7)
          seen.push(...page.documents.map(({ id }) => id))
          after = page.next
          // The last one of the page is the place where the scan goes on.
          if (after !== null) await documents.remove('notes', after, 'any')
        } while (after !== null)
        expect(seen).toEqual(reverse ? [...ids].reverse() : ids)
      },
    )

    test('a page holds at most 256 KiB, but one document at least', async () => {
      const documents = await store()
      const body = (bytes: number) => JSON.stringify({ text: 'x'.repeat(bytes - 11) })
      for (let n = 0; n < 5; n += 1) await documents.put('notes', `n${n}`, body(100 * 1024), 'absent')
      await documents.put('notes', 'n5', body(1024 * 1024), 'absent')
      const sizes: number[] = []
      let after: string | null = null
      do {
        const page = await documents.scan('notes', { ...whole, after })
        sizes.push(page.documents.length)
        after = page.next
      } while (after !== null)
      expect(sizes).toEqual([2, 2, 1, 1])
    })

    test('a missing collection is empty', async () => {
      const documents = await store()
      expect(await documents.scan('none', whole)).toEqual({ documents: [], next: null })
      expect(await documents.count('none')).toBe(0)
      await documents.drop('none')
      expect(await documents.list()).toEqual([])
    })

    test('many documents are written at once, and existing ones are named and left alone', async () => {
      const documents = await store()
      await documents.put('notes', 'b', '{"old":true}', 'absent')
      const rows = ['a', 'b', 'c'].map((id) => ({ id, body: `{"id":"${id}"}` }))
      expect(await documents.putMany('notes', rows, 'absent')).toEqual(['b'])
      expect(await documents.get('notes', 'b')).toMatchObject({ body: '{"old":true}' })
      expect(await documents.putMany('notes', rows, 'any')).toEqual(['a', 'b', 'c'])
      expect(await documents.get('notes', 'b')).toMatchObject({ body: '{"id":"b"}' })
      const tooMany = Array.from({ length: 1_001 }, (_, n) => ({ id: `m${n}`, body: '{}' }))
      await expect(documents.putMany('notes', tooMany, 'any')).rejects.toMatchObject({ code: 'query_invalid' })
      expect(await documents.count('notes')).toBe(3)
    })

    test('many documents are changed at once, and those that changed since they were read are named and left alone', async () => {
      const documents = await store()
      const put = (id: string) => documents.put('notes', id, `{"id":"${id}"}`, 'absent')
      const [a, b, c, d] = [await put('a'), await put('b'), await put('c'), await put('d')]
      await documents.put('notes', 'b', '{"new":true}', 'any')
      await documents.remove('notes', 'd', 'any')
      const changes = [
        { id: 'a', version: a, body: '{"n":1}' },
        { id: 'b', version: b, body: null },
        { id: 'c', version: c, body: null },
        { id: 'd', version: d, body: '{"n":4}' },
      ]
      expect(await documents.changeMany('notes', changes)).toEqual({ changed: 2, overtaken: ['b', 'd'] })
      const { documents: left } = await documents.scan('notes', whole)
      expect(left.map(({ id, body }) => [id, body])).toEqual([
        ['a', '{"n":1}'],
        ['b', '{"new":true}'],
      ])
      expect(left[0]?.version).toBeGreaterThan(d)
      expect(await documents.list()).toEqual([{ name: 'notes', count: 2, bytes: 19 }])
      expect(await documents.changeMany('notes', changes)).toEqual({ changed: 0, overtaken: ['a', 'b', 'c', 'd'] })
      expect(await documents.changeMany('none', changes.slice(0, 1))).toEqual({ changed: 0, overtaken: ['a'] })
      expect(await documents.changeMany('notes', [])).toEqual({ changed: 0, overtaken: [] })
      const twice = [1, 2].map((version) => ({ id: 'a', version, body: null }))
      await expect(documents.changeMany('notes', twice)).rejects.toMatchObject({ code: 'query_invalid' })
      const tooMany = Array.from({ length: 1_001 }, (_, n) => ({ id: `m${n}`, version: 1, body: null }))
      await expect(documents.changeMany('notes', tooMany)).rejects.toMatchObject({ code: 'query_invalid' })
    })

    test('1,000 changes are one call, unless their documents are too large together', async () => {
      const documents = await store()
      const rows = Array.from({ length: 1_000 }, (_, n) => ({ id: `m${n}`, body: '{"old":true}' }))
      await documents.putMany('small', rows, 'absent')
      const small = (await documents.scan('small', whole)).documents
      const changes = small.map(({ id, version }, at) => ({ id, version, body: at % 2 === 0 ? null : '{"new":1}' }))
      expect(await documents.changeMany('small', changes)).toEqual({ changed: 1_000, overtaken: [] })
      expect(await documents.list()).toEqual([{ name: 'small', count: 500, bytes: 4_500 }])

      const body = JSON.stringify({ text: 'x'.repeat(3 * 1024 * 1024) })
      const large: { id: string; version: number; body: null }[] = []
      for (let n = 0; n < 6; n += 1) {
        large.push({ id: `l${n}`, version: await documents.put('large', `l${n}`, body, 'absent'), body: null })
      }
      await expect(documents.changeMany('large', large)).rejects.toMatchObject({ code: 'query_invalid' })
      const again = large.map(({ id }) => ({ id, body: '{}' }))
      expect(await documents.putMany('large', again, 'absent')).toHaveLength(6)
      await expect(documents.putMany('large', again, 'any')).rejects.toMatchObject({ code: 'query_invalid' })
      // Those of another version are not even read.
      const stale = large.map((change, at) => (at < 2 ? { ...change, version: 1 } : change))
      expect(await documents.changeMany('large', stale)).toEqual({ changed: 4, overtaken: ['l0', 'l1'] })
    })

    test('the list names each collection with its size, and not one that was dropped', async () => {
      const documents = await store()
      await documents.put('b.two', 'a', '{}', 'absent')
      await documents.put('b.two', 'b', '{"n":1}', 'absent')
      await documents.put('A-1', 'a', '{}', 'absent')
      await documents.put('gone', 'a', '{}', 'absent')
      await documents.drop('gone')
      expect(await documents.list()).toEqual([
        { name: 'A-1', count: 1, bytes: 2 },
        { name: 'b.two', count: 2, bytes: 9 },
      ])
      expect(await documents.get('gone', 'a')).toBeNull()
    })

    test('ATK-203 names, ids and sizes out of bounds are refused', async () => {
      const documents = await store()
      for (const collection of [
        '',
        '_x',
        '1',
        'a b',
        'a..b',
        'a.',
        `a${'b'.repeat(64)}`,
        "a'; --",
        'sqlite"',
        '__proto__',
      ]) {
        await expect(documents.put(collection, 'a', '{}', 'any')).rejects.toMatchObject({ code: 'query_invalid' })
        await expect(documents.scan(collection, whole)).rejects.toMatchObject({ code: 'query_invalid' })
      }
      for (const id of ['', 'a\u0000b', 'a\nb', 'x'.repeat(256), 'ä'.repeat(128), '\ud800']) {
        await expect(documents.put('notes', id, '{}', 'any')).rejects.toMatchObject({ code: 'query_invalid' })
        await expect(documents.putMany('notes', [{ id, body: '{}' }], 'any')).rejects.toMatchObject({
          code: 'query_invalid',
        })
      }
      const huge = JSON.stringify({ text: 'x'.repeat(4 * 1024 * 1024) })
      await expect(documents.put('notes', 'a', huge, 'any')).rejects.toMatchObject({ code: 'quota_exceeded' })
      expect(await documents.count('notes')).toBe(0)
    })
  })
}
