import { expect, onTestFinished, test, vi } from 'vitest'
import { collectionsHost } from '../../support/collections-host.js'

// A worker that runs out of memory collects garbage for long before it gives up.
vi.setConfig({ testTimeout: 240_000 })

const mebibyte = 1024 * 1024
const rows = (count: number) => Array.from({ length: count }, (_, n) => `{"_id":"${n}","text":"${'x'.repeat(500)}"}\n`)
/** Each of its objects takes 3 bytes of the line, and some 60 in memory. */
const objects = (bytes: number) =>
  `{"_id":"objects","list":[${Array(Math.floor(bytes / 3))
    .fill('{}')
    .join(',')}]}\n`

async function open(limits = {}) {
  const host = await collectionsHost({ limits })
  onTestFinished(() => host.close())
  await host.createSpace('dev')
  return host
}

test('ATK-170 a line of millions of small objects is a fault of its own, and the others go in', async () => {
  const host = await open()
  const { rows: answer } = await host.importText('notes', `${rows(3).join('')}${objects(7 * mebibyte)}{"_id":"last"}\n`)
  const failed = [{ line: 4, fault: 'The document is larger than limits.document.' }]
  expect(answer.at(-1)).toEqual({ finished: true, imported: 4, faults: 1, failed })
})

test('ATK-170 an import that needs too much memory says so, and counts what it has written', async () => {
  const host = await open({ document: '16MiB' })
  const { rows: answer } = await host.importText('notes', `${rows(1_000).join('')}${objects(20 * mebibyte)}`)
  const detail = expect.stringContaining('A line of the import needs more than 256 MiB of memory.')
  expect(answer.at(-1)).toMatchObject({ imported: 1_000, error: { code: 'query_invalid', detail } })
  const { rows: counted } = await host.query('notes', { count: true })
  expect(counted).toEqual([{ end: { count: 1_000 } }])
  expect(await host.events('data_imported')).toMatchObject([{ outcome: 'failure', detail: { count: 1_000 } }])
  // Rows that replace others count, too.
  const again = await host.importText('notes', `${rows(1_000).join('')}${objects(20 * mebibyte)}`, '?upsert=true')
  expect(again.rows.at(-1)).toMatchObject({ imported: 1_000, error: { code: 'query_invalid' } })
})

test('a change that is stopped says how many documents it has changed', async () => {
  const host = await collectionsHost({ queryMs: 4_000 })
  onTestFinished(() => host.close())
  await host.createSpace('dev')
  // The second half takes a few milliseconds each, which is within the bound of a document.
  const texts = [...Array(600).fill('a'), ...Array(3_000).fill(`${'a'.repeat(20)}!`)]
  await host.importText(
    'texts',
    texts.map((each, n) => `{"_id":"${String(n).padStart(4, '0')}","text":"${each}"}\n`).join(''),
  )
  const filter = { text: { $regex: '^(a+)+$' } }
  const { body } = await host.query('texts', { filter, update: { $set: { seen: true } } })
  const detail =
    'The change was stopped after 4 s. Change fewer documents at a time, by a narrower filter. Before that, 500 documents were changed.'
  expect(body).toMatchObject({ status: 422, code: 'query_invalid', detail })
  const { rows: counted } = await host.query('texts', { filter: { seen: true }, count: true })
  expect(counted).toEqual([{ end: { count: 500 } }])
})
