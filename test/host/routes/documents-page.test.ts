import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { type ListeningHost, listeningHost } from '../../support/listening-host.js'

vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 })

let host: ListeningHost
beforeAll(async () => {
  host = await listeningHost()
  await host.browser.post('/auth/admin/api/spaces', { name: 'dev' })
})
afterAll(() => host.close())

const show = (path: string) => host.browser.get(`/auth/admin/spaces/dev${path}`)
const post = (path: string, fields: Record<string, string>) =>
  host.browser.post(`/auth/admin/api/spaces/dev/collections/${path}`, fields)
const query = (collection: string, fields: Record<string, string> = {}) => post(`${collection}/query`, fields)

async function importAll(collection: string, documents: readonly object[]): Promise<void> {
  const { status } = await fetch(`${host.adminUrl}/auth/admin/api/spaces/dev/collections/${collection}/import`, {
    method: 'POST',
    headers: { cookie: host.browser.cookie(), origin: host.adminUrl, 'content-type': 'application/jsonl' },
    body: documents.map((document) => `${JSON.stringify(document)}\n`).join(''),
  }).then(async (answer) => ({ status: answer.status, text: await answer.text() }))
  expect(status).toBe(200)
}

const unescaped = (text: string) =>
  text.replaceAll('&quot;', '"').replaceAll('&#x3D;', '=').replaceAll('&lt;', '<').replaceAll('&gt;', '>')
const idsOn = (text: string) => [...text.matchAll(/<th scope="row"><bdi>([^<]*)</g)].map(([, id]) => id)
const editorOn = (text: string) => unescaped(/name="replace"[^>]*>\n?([^<]*)</.exec(text)?.[1] ?? '')
const versionOn = (text: string) => /name="ifVersion" value="(\d+)"/.exec(text)?.[1] ?? ''

test('collections are listed with their size and indexes, and hidden ones are not shown', async () => {
  expect((await show('/data')).text).toContain('No collections yet.')
  await importAll('orders', [{ _id: 'a', status: 'open' }])
  await post('orders/indexes', { fields: 'status' })
  const { text } = await show('/data')
  expect(text).toContain('href="/auth/admin/spaces/dev/data/orders"')
  expect(text).toContain('<bdi>status</bdi>')
  expect((await show('/data/_hidden')).status).toBe(404)
  expect((await show('/data/none')).text).toContain('<code>latchkey query none --space dev</code>')
  expect((await show('')).text).toContain('href="/auth/admin/spaces/dev/data"')
})

test('rows are found by a filter and a sort that stay out of addresses, 50 a page', async () => {
  const documents = Array.from({ length: 120 }, (_, n) => ({ _id: String(n).padStart(3, '0'), n, even: n % 2 === 0 }))
  await importAll('numbers', documents)
  const first = await show('/data/numbers')
  expect(idsOn(first.text)).toEqual(documents.slice(0, 50).map(({ _id }) => _id))
  expect(first.text).not.toContain('Previous page')
  const asked = { filter: '{"even": true}', sort: '{"n": -1}' }
  const found = await query('numbers', asked)
  expect([found.status, found.location, idsOn(found.text)[0]]).toEqual([200, '', '118'])
  expect(unescaped(found.text)).toContain('name="filter" value="{"even": true}"')
  expect(found.text).toContain('name="offset" value="50"')
  const last = await query('numbers', { ...asked, offset: '50' })
  expect(idsOn(last.text)).toHaveLength(10)
  expect(last.text).toContain('51 to 60')
  expect(last.text).toContain('name="offset" value="0"')
  expect(last.text).not.toContain('Next page')
})

test('a filter that is refused is shown again with the reason', async () => {
  const { status, text } = await query('numbers', { filter: '{"n": <' })
  expect(status).toBe(422)
  expect(text).toContain('filter is no JSON.')
  expect(text).toContain('>{&quot;n&quot;: &lt;</textarea>')
  expect((await query('numbers', { filter: '{"$where": "1"}' })).status).toBe(422)
  expect((await query('numbers', { offset: '-1' })).location).toContain('error=invalid_request')
})

test('values are escaped, long documents are cut, and a full page stays small', async () => {
  const text = `<script>alert(1)</script>"${'"<&'.repeat(200)}`
  await importAll(
    'long',
    Array.from({ length: 50 }, (_, n) => ({ _id: `${n}<b>`, text })),
  )
  const listed = await show('/data/long')
  expect(listed.text).not.toContain('<script>alert')
  expect(listed.text).not.toContain('<b>')
  expect(listed.text).toContain('…</code>')
  expect(Buffer.byteLength(listed.text)).toBeLessThan(120_000)
  const opened = await query('long', { filter: '{"_id": "1<b>"}' })
  expect(opened.text).not.toContain('<script>alert')
  expect(opened.text).toContain('&lt;script&gt;')
})

test('a document is opened, saved in the version that was read, and deleted', async () => {
  await importAll('notes', [{ _id: 'a', at: { $date: '2026-01-31T12:00:00.000Z' }, text: 'one' }])
  const filter = '{"_id":"a"}'
  const { text } = await query('notes', { filter })
  const ifVersion = versionOn(text)
  const typed = editorOn(text).replace('one', 'two').replaceAll('\n', '\r\n')
  const saved = await query('notes', { filter, ifVersion, replace: typed })
  expect(saved.status).toBe(200)
  expect(saved.text).toContain('The document is saved.')
  expect(JSON.parse(editorOn(saved.text))).toEqual({
    _id: 'a',
    at: { $date: '2026-01-31T12:00:00.000Z' },
    text: 'two',
  })

  const late = await query('notes', { filter, ifVersion, replace: typed.replace('two', 'three') })
  expect(late.status).toBe(409)
  expect(late.text).toContain('Nothing was saved.')
  expect(late.text).toContain('three')
  expect(late.text).not.toContain('name="replace"')
  expect((await query('notes', { filter, ifVersion, delete: 'true' })).status).toBe(409)

  const current = await query('notes', { filter })
  expect(editorOn(current.text)).toContain('two')
  const broken = await query('notes', { filter, ifVersion: versionOn(current.text), replace: '{"text": ' })
  expect([broken.status, editorOn(broken.text)]).toEqual([422, '{"text": '])
  expect(broken.text).toContain('The document is no JSON.')
  const deep = `{"text":${'['.repeat(33)}${']'.repeat(33)}}`
  const nested = await query('notes', { filter, ifVersion: versionOn(current.text), replace: deep })
  expect([nested.status, editorOn(nested.text)]).toEqual([422, deep])
  expect(nested.text).toContain('The document nests deeper than 32 levels.')
  const gone = await query('notes', { filter, ifVersion: versionOn(current.text), delete: 'true' })
  expect([gone.status, gone.location]).toEqual([
    303,
    '/auth/admin/spaces/dev/data/notes?done=document_deleted&at=documents#documents',
  ])
  expect((await show('/data/notes?done=document_deleted&at=documents')).text).toContain('The document is deleted.')
  expect((await query('notes', { filter })).text).toContain('No documents match.')
})

test('a text with another _id is not saved, and stays in the editor', async () => {
  await importAll('renamed', [{ _id: 'a', text: 'one' }])
  const filter = '{"_id":"a"}'
  const ifVersion = versionOn((await query('renamed', { filter })).text)
  for (const replace of ['{"_id":"other","text":"two"}', '{"_id":null,"text":"two"}', '{"_id":{"$oid":"b"}}']) {
    const { status, text } = await query('renamed', { filter, ifVersion, replace })
    expect([status, editorOn(text), versionOn(text)]).toEqual([422, replace, ifVersion])
    expect(text).toContain('_id cannot be changed.')
  }
  expect(editorOn((await query('renamed', { filter })).text)).toContain('"one"')
  const saved = await query('renamed', { filter, ifVersion, replace: '{"text":"two"}' })
  expect([saved.status, JSON.parse(editorOn(saved.text))]).toEqual([200, { _id: 'a', text: 'two' }])
})

test('a collection is downloaded as a file that an import takes', async () => {
  const documents = [{ _id: 'a', text: 'ö' }, { _id: 'b' }]
  await importAll('downloaded', documents)
  const { text } = await show('/data/downloaded')
  const path = '/auth/admin/api/spaces/dev/collections/downloaded/export?download=true'
  expect(unescaped(text)).toContain(`<a href="${path}" download>`)
  const file = await host.browser.get(path)
  expect([file.status, file.text]).toEqual([200, documents.map((each) => `${JSON.stringify(each)}\n`).join('')])
  expect(file.headers.get('content-disposition')).toBe('attachment; filename="downloaded.jsonl"')
  expect(file.headers.get('x-latchkey-documents')).toBe('2')
  expect((await show('/data/none')).text).not.toContain('/export')
  expect((await host.browser.get(path.replace('true', 'yes'))).status).toBe(400)
  // An answer whose body nobody reads keeps no snapshot: a space has four of them.
  const headers = { cookie: host.browser.cookie() }
  for (let n = 0; n < 6; n += 1) await fetch(`${host.adminUrl}${path}`, { method: 'HEAD', headers })
  expect((await host.browser.get(path)).status).toBe(200)
})

test('a document that no form can send has no form', async () => {
  await importAll('large', [{ _id: 'a', text: 'x'.repeat(70_000) }])
  const { text } = await query('large', { filter: '{"_id":"a"}' })
  expect(text).toContain('too large for this form')
  expect(text).not.toContain('name="replace"')
})

test('indexes are built and removed, the field typed to confirm', async () => {
  const page = '/auth/admin/spaces/dev/data/numbers'
  const built = await post('numbers/indexes', { fields: 'n, even' })
  expect([built.status, built.location]).toEqual([303, `${page}?done=index_built&at=indexes#indexes`])
  expect((await show('/data/numbers?done=index_built&at=indexes')).text).toContain('<code>even</code>')
  const { text } = await show('/data/numbers')
  expect([...text.matchAll(/<label for="(confirm-[^"]*)"/g)].map(([, id]) => id)).toEqual(['confirm-0', 'confirm-1'])
  expect([...text.matchAll(/<input id="(confirm-[^"]*)"/g)].map(([, id]) => id)).toEqual(['confirm-0', 'confirm-1'])
  const refused = await post('numbers/indexes', { _method: 'DELETE', fields: 'even', confirm: 'n' })
  expect(refused.location).toBe(`${page}?error=invalid_request&fields=confirm&at=indexes#indexes`)
  const removed = await post('numbers/indexes', { _method: 'DELETE', fields: 'even', confirm: 'even' })
  expect(removed.location).toBe(`${page}?done=index_removed&at=indexes#indexes`)
  expect((await show('/data/numbers')).text).not.toContain('<code>even</code>')
})

test('an index that is refused is asked for again with the reason, which no address holds', async () => {
  await importAll('people', [{ _id: 'a', age: 1 }, { _id: 'b', age: 1 }, { _id: 'c' }])
  const refused = async (fields: Record<string, string>) => {
    const { status, location, text } = await post('people/indexes', fields)
    const [, section = ''] = text.split('id="indexes"')
    return { status, location, section: unescaped(section), ids: idsOn(text) }
  }
  const hidden = await refused({ fields: 'age, _id' })
  expect([hidden.status, hidden.location, hidden.ids]).toEqual([422, '', ['a', 'b', 'c']])
  expect(hidden.section).toContain('An index is on a field other than _id')
  expect(hidden.section).toContain('value="age, _id"')
  expect(hidden.section).not.toContain(' checked>')
  const double = await refused({ fields: 'age', unique: 'true' })
  expect([double.status, double.location]).toEqual([422, ''])
  expect(double.section).toContain('these documents share a value, or hold an array or object there: "a", "b".')
  expect(double.section).toContain('value="age"')
  expect(double.section).toContain(' checked>')
  await post('people/indexes', { fields: 'age' })
  const known = await refused({ fields: 'age', unique: 'true' })
  expect(known.status).toBe(409)
  expect(known.section).toContain('The index on age exists and is not unique.')
  expect((await show('/data/people')).text).not.toContain('The request was refused:')
})
