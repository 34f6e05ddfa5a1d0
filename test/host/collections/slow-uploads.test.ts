import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { type CollectionsHost, collectionsHost } from '../../support/collections-host.js'
import { rawConnection } from '../../support/raw-http.js'

let host: CollectionsHost

beforeAll(async () => {
  host = await collectionsHost()
  await host.createSpace('dev')
})
afterAll(() => host.close())

/** An upload whose body the test sends piece by piece. */
async function openUpload(path: string, credential: Record<string, string>) {
  const { host: name, port, pathname } = new URL(host.api)
  const connection = await rawConnection(Number(port))
  const type = path.includes('/import') ? 'application/jsonl' : 'application/gzip'
  const headers = { host: name, ...credential, 'content-type': type, 'transfer-encoding': 'chunked' }
  const lines = Object.entries(headers).map(([header, value]) => `${header}: ${value}\r\n`)
  connection.write(`POST ${pathname}${path} HTTP/1.1\r\n${lines.join('')}\r\n`)
  onTestFinished(() => connection.destroy())
  return {
    send: (bytes: Uint8Array) =>
      connection.write(Buffer.concat([Buffer.from(`${bytes.length.toString(16)}\r\n`), bytes, Buffer.from('\r\n')])),
    end: () => connection.write('0\r\n\r\n'),
    answer: async () => (await connection.answer('POST')).body.toString(),
  }
}

/** An upload that sends its bytes one at a time, until the test ends. */
async function slowUpload(path: string, credential: Record<string, string>, bytes: Uint8Array): Promise<void> {
  const { send } = await openUpload(path, credential)
  let at = 0
  const timer = setInterval(() => {
    send(Buffer.from([bytes[at % bytes.length] ?? 0]))
    at += 1
  }, 20)
  onTestFinished(() => clearInterval(timer))
  await expect.poll(() => at).toBeGreaterThan(5)
}

async function backup(space = 'dev'): Promise<Uint8Array> {
  const answer = await fetch(`${host.api}/spaces/${space}/backup`, { headers: host.bearer })
  return Buffer.from(await answer.arrayBuffer())
}

test('ATK-238 slow uploads to deploy and restore keep no administrator from any change of the space', async () => {
  await host.importText('notes', '{"_id":"old"}\n')
  expect((await host.deploy('friendly')).rows.at(-1)).toMatchObject({ done: true, release: 1 })
  const archive = await backup()
  const token = await host.adminToken({ commands: ['deploy', 'restore'], name: 'slow' })
  await slowUpload('/spaces/dev/releases', token, archive)
  await slowUpload('/spaces/dev/restore?confirm=dev', token, archive)
  await slowUpload('/spaces/dev/restore?verify=true', token, archive)

  expect((await host.call('GET', '')).body).toMatchObject({ busyWith: null, busyBy: null, busySince: null })
  expect(await host.call('POST', '/env', { name: 'A', value: 'b' })).toMatchObject({ status: 204 })
  expect(await host.call('DELETE', '/env/A')).toMatchObject({ status: 204 })
  expect((await host.deploy('friendly')).rows.at(-1)).toMatchObject({ done: true, release: 2 })
  expect((await host.call('POST', '/releases/1/activate')).rows.at(-1)).toMatchObject({ done: true, release: 1 })
  expect(await host.call('DELETE', '/releases/current', { confirm: 'dev' })).toMatchObject({ status: 204 })
  expect(await host.call('POST', '/take-over')).toMatchObject({ status: 404 })
  expect(await host.call('DELETE', '', { confirm: 'dev' })).toMatchObject({ status: 204 })
  expect(await host.createSpace('dev')).toMatchObject({ status: 201 })
})

test('ATK-238 a fifth upload of one token to a space is refused, and one of an administrator is not', async () => {
  const token = await host.adminToken({ commands: ['deploy'], name: 'many' })
  const archive = await backup()
  for (let at = 0; at < 4; at += 1) await slowUpload('/spaces/dev/releases', token, archive)
  const answer = await host.send('/spaces/dev/releases', {
    method: 'POST',
    headers: { ...token, 'content-type': 'application/gzip' },
    body: new Uint8Array(archive),
  })
  expect(answer.rows).toMatchObject([{ error: { code: 'space_busy', detail: expect.stringContaining('4 of your') } }])
  expect((await host.deploy('friendly')).rows.at(-1)).toMatchObject({ done: true })
})

test('ATK-238 slow imports to four spaces hold no place: those of other clients finish, there and elsewhere', async () => {
  const token = await host.adminToken({ commands: ['import'], name: 'slow imports' })
  const lines = Buffer.from('{"n":1}\n')
  const slow = ['slow1', 'slow2', 'slow3', 'slow4']
  for (const name of slow) {
    expect(await host.createSpace(name)).toMatchObject({ status: 201 })
    await slowUpload(`/spaces/${name}/collections/notes/import`, token, lines)
  }
  for (let at = 0; at < 4; at += 1) await slowUpload('/spaces/dev/collections/notes/import', token, lines)

  for (const name of ['dev', ...slow]) {
    const path = `/spaces/${name}/collections/others/import`
    const headers = { ...host.bearer, 'content-type': 'application/jsonl' }
    const { rows } = await host.send(path, { method: 'POST', headers, body: '{"_id":"a"}\n' })
    expect(rows.at(-1)).toEqual({ finished: true, imported: 1, faults: 0, failed: [] })
  }
  const ninth = await host.importText('notes', '{}\n', '', token)
  expect(ninth).toMatchObject({ status: 409, body: { code: 'space_busy' } })
})

test('lines that arrive while their space is restored go into the restored data', async () => {
  expect(await host.createSpace('moved')).toMatchObject({ status: 201 })
  const archive = new Uint8Array(await backup('moved'))
  const { send, end, answer } = await openUpload('/spaces/moved/collections/notes/import', host.bearer)
  send(Buffer.from('{"_id":"first"}\n'))
  const type = { 'content-type': 'application/gzip' }
  const restore = { method: 'POST', headers: { ...host.bearer, ...type }, body: archive }
  const { rows } = await host.send('/spaces/moved/restore?confirm=moved', restore)
  expect(rows.at(-1)).toMatchObject({ done: true })
  send(Buffer.from('{"_id":"last"}\n'))
  end()
  expect(await answer()).toContain('"finished":true,"imported":2')
  const headers = { ...host.bearer, 'content-type': 'application/json' }
  const query = { method: 'POST', headers, body: '{"count":true}' }
  const counted = await host.send('/spaces/moved/collections/notes/query', query)
  expect(counted.rows).toEqual([{ end: { count: 2 } }])
})
