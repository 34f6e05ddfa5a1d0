import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { type CollectionsHost, collectionsHost } from '../../support/collections-host.js'
import { rawConnection } from '../../support/raw-http.js'

let host: CollectionsHost

beforeAll(async () => {
  host = await collectionsHost()
  await host.createSpace('dev')
})
afterAll(() => host.close())

/** An upload that sends its bytes one at a time, until the test ends. */
async function slowUpload(path: string, credential: Record<string, string>, bytes: Uint8Array): Promise<void> {
  const { host: name, port, pathname } = new URL(host.api)
  const connection = await rawConnection(Number(port))
  const type = path.includes('/import') ? 'application/jsonl' : 'application/gzip'
  const headers = { host: name, ...credential, 'content-type': type, 'transfer-encoding': 'chunked' }
  const lines = Object.entries(headers).map(([header, value]) => `${header}: ${value}\r\n`)
  connection.write(`POST ${pathname}${path} HTTP/1.1\r\n${lines.join('')}\r\n`)
  let at = 0
  const timer = setInterval(() => {
    const byte = bytes[at % bytes.length] ?? 0
    at += 1
    connection.write(Buffer.concat([Buffer.from('1\r\n'), Buffer.from([byte]), Buffer.from('\r\n')]))
  }, 20)
  onTestFinished(() => {
    clearInterval(timer)
    connection.destroy()
  })
  await expect.poll(() => at).toBeGreaterThan(5)
}

async function backup(): Promise<Uint8Array> {
  const answer = await fetch(`${host.api}/spaces/dev/backup`, { headers: host.bearer })
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
