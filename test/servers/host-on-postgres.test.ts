import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { expect, onTestFinished, test, vi } from 'vitest'
import { createHostOf } from '../../src/host/host.js'
import { createHostPieces } from '../../src/host/host-pieces.js'
import { newMasterKey } from '../../src/host/sealing/master-keys.js'
import { parseHostSettings } from '../../src/host/settings/host-settings.js'
import { startCuttingProxy } from '../support/cutting-proxy.js'
import { hostPath } from '../support/host-folder.js'
import { freePort } from '../support/program.js'
import { createDatabase, createRuntimeRole, serverUrls } from '../support/servers.js'
import { archiveOfBundle, buildRunner, mingo } from '../support/space-release.js'
import { threadProgram } from '../support/storage-threads.js'

vi.setConfig({ testTimeout: 120_000 })

const patience = { timeout: 30_000 }

async function place(database: string) {
  const [front, admin] = [await freePort(), await freePort()]
  const [baseUrl, adminUrl] = [`http://127.0.0.1:${front}`, `http://127.0.0.1:${admin}`]
  const data = await hostPath()
  const logged: unknown[] = []
  const note = (entry: { event?: unknown }) => void logged.push(entry.event)
  const settings = parseHostSettings({
    ...{ data, baseUrl, adminUrl, database },
    listen: new URL(baseUrl).host,
    adminListen: new URL(adminUrl).host,
    auth: { logger: { warn: note, error: note }, password: { checkBreached: false } },
  })
  return { data, baseUrl, adminUrl, settings, logged }
}

/** A host that may be started again, with the key of its first start. */
async function startable(database: string) {
  const folder = await mkdtemp(join(tmpdir(), 'latchkey-whole-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  const { settings, ...at } = await place(database)
  const pieces = createHostPieces({ runner: await buildRunner(folder), mingo, thread: await threadProgram() })
  const masterKey = newMasterKey()
  const start = async () => {
    const host = createHostOf(settings, pieces, { masterKey, stopTimes: { noticeMs: 0, drainMs: 500 } })
    onTestFinished(() => host.close())
    await host.listen()
    return host
  }
  return { folder, ...at, start }
}

const json = { 'content-type': 'application/json' }

/** The first administrator, who calls the control API. */
async function signUp({ data, adminUrl }: { data: string; adminUrl: string }) {
  const key = new URL((await readFile(join(data, 'setup-url'), 'utf8')).trim()).searchParams.get('key')
  const setUp = await fetch(`${adminUrl}/auth/setup`, {
    method: 'POST',
    headers: { ...json, 'x-auth-mode': 'token' },
    body: JSON.stringify({ key, email: 'ann@example.test', password: 'a difference engine of brass' }),
  })
  const [, accessToken = ''] = /"accessToken":"([^"]+)"/.exec(await setUp.text()) ?? []
  const signedIn = { authorization: `Bearer ${accessToken}` }
  const call = (method: string, path: string, body?: unknown) =>
    fetch(`${adminUrl}/auth/admin/api${path}`, {
      method,
      headers: { ...signedIn, ...json },
      body: JSON.stringify(body),
    })
  return { signedIn, call }
}

test('a host deploys, keeps its data over a restart and an outage, backs it up, and drops it with the space', async () => {
  const database = await createDatabase('postgres')
  onTestFinished(() => database.close())
  const { hostname, port } = new URL(serverUrls.postgres)
  const proxy = await startCuttingProxy({ host: hostname, port: Number(port) })
  onTestFinished(() => proxy.close())
  const url = new URL(database.url)
  url.port = String(proxy.port)
  const { data, baseUrl, adminUrl, start } = await startable(url.href)
  const host = await start()
  const { signedIn, call } = await signUp({ data, adminUrl })
  expect((await call('POST', '/spaces', { name: 'dev' })).status).toBe(201)

  const headers = { ...signedIn, 'content-type': 'application/gzip' }
  const deployed = await fetch(`${adminUrl}/auth/admin/api/spaces/dev/releases`, {
    method: 'POST',
    headers,
    body: await archiveOfBundle('friendly'),
  })
  expect(await deployed.text()).toContain('"done":true')

  const items = `${baseUrl}/dev/api/items`
  const post = () => fetch(items, { method: 'POST', headers: json, body: JSON.stringify({ name: 'lamp' }) })
  expect((await post()).status).toBe(201)
  const names = async () => {
    const answer = await fetch(items)
    if (answer.status !== 200) return { status: answer.status, body: await answer.json() }
    return [...(await answer.text()).matchAll(/"name":"(\w+)"/g)].map(([, name]) => name)
  }
  expect(await names()).toEqual(['lamp'])

  await proxy.stop()
  expect(await names()).toMatchObject({ status: 503, body: { code: 'store_unavailable' } })
  await proxy.listen()
  await expect.poll(names, patience).toEqual(['lamp'])

  await host.close()
  await start()
  await expect.poll(names, patience).toEqual(['lamp'])
  const exported = await call('GET', '/spaces/dev/collections/items/export')
  expect(await exported.text()).toMatch(/^\{"_id":"[0-9a-f]{24}","name":"lamp"\}\n\{"end":\{"count":1\}\}\n$/)
  const backup = gunzipSync(Buffer.from(await (await call('GET', '/spaces/dev/backup')).arrayBuffer())).toString(
    'latin1',
  )
  expect(backup).toContain('"name":"lamp"')
  expect(backup).toContain('collections/')
  expect(backup).toContain('checksums.json')
  const schemas = () => database.query(`select nspname from pg_namespace where nspname ~ '^lk_'`)
  expect(await schemas()).toHaveLength(1)
  expect((await call('DELETE', '/spaces/dev', { confirm: 'dev' })).status).toBe(204)
  expect(await schemas()).toEqual([])
})

/** A running host with the space `dev`, whose data has a schema. */
async function withSchema() {
  const database = await createDatabase('postgres')
  onTestFinished(() => database.close())
  const own = await startable(database.url)
  const host = await own.start()
  const { call } = await signUp(own)
  expect((await call('POST', '/spaces', { name: 'dev' })).status).toBe(201)
  expect((await call('POST', '/spaces/dev/collections/notes/indexes', { fields: ['n'] })).status).toBe(200)
  return { database, own, host, call }
}

test('a host starts while a schema of a removed space is held, and removes it at a later start', async () => {
  const { database, own, host, call } = await withSchema()
  const schemas = async () => (await database.query(`select nspname from pg_namespace where nspname ~ '^lk_'`)).length
  const [row] = await database.query(`select nspname from pg_namespace where nspname ~ '^lk_'`)
  // A dump of the database holds such a lock.
  await database.query('begin')
  await database.query(`lock table "${row?.nspname}".space in access share mode`)
  expect((await call('DELETE', '/spaces/dev', { confirm: 'dev' })).status).toBe(204)
  expect((await call('GET', '/spaces/dev')).status).toBe(404)
  await host.close()
  await (await own.start()).close()
  expect(await schemas()).toBe(1)
  await database.query('commit')
  await own.start()
  expect(await schemas()).toBe(0)
})

test('a host starts while data is held that is over, says so, and removes it at a later start', async () => {
  const { database, own, host } = await withSchema()
  await host.close()

  const schemas = async () => {
    const rows = await database.query(`select nspname from pg_namespace where nspname ~ '^lk_' order by nspname`)
    return rows.map(({ nspname }) => String(nspname))
  }
  const [inForce = ''] = await schemas()
  const over = ['draft9', 'g0'].map((end) => inForce.replace(/g1$/, end))
  for (const schema of over) {
    await database.query(`create schema "${schema}"`)
    await database.query(`create table "${schema}".held ()`)
  }
  await database.query('begin')
  for (const schema of over) await database.query(`lock table "${schema}".held in access share mode`)
  await (await own.start()).close()
  expect(own.logged.filter((event) => event === 'generation_left')).toHaveLength(2)
  expect(await schemas()).toEqual([...over, inForce].sort())
  await database.query('commit')
  await own.start()
  expect(await schemas()).toEqual([inForce])
  expect(own.logged.filter((event) => event === 'generation_left')).toHaveLength(2)
})

test('a server that is away, a missing key and a missing right are faults that name the setting, not the URL', async () => {
  const away = await place(`postgres://ann:s3cret@127.0.0.1:${await freePort()}/x`)
  const listen = (settings: typeof away.settings, options = {}) => {
    const host = createHostOf(settings, createHostPieces(), options)
    onTestFinished(() => host.close())
    return host.listen().then(
      () => 'it listens',
      (error: unknown) => (error instanceof Error ? `${error.name} ${error.message}` : ''),
    )
  }
  expect(await listen(away.settings)).toContain('masterKey: With a PostgreSQL database it must be given')
  const fault = await listen(away.settings, { masterKey: newMasterKey() })
  expect(fault).toContain('SettingsError')
  expect(fault).toMatch(/database: PostgreSQL at 127.0.0.1:\d+ cannot be reached \(ECONNREFUSED\)/)
  expect(fault).not.toContain('s3cret')

  const database = await createDatabase('postgres')
  const role = await createRuntimeRole(database, ['grant create on schema public to latchkey_app'])
  onTestFinished(() => database.close(role.drop))
  const { settings } = await place(role.url)
  expect(await listen(settings, { masterKey: newMasterKey() })).toContain('database: its user may not create schemas')
})

test('a database of another encoding than UTF-8 is refused at the start', async () => {
  const database = await createDatabase('postgres')
  const latin = `${database.name}_latin`
  onTestFinished(() => database.close(`drop database ${latin} with (force)`))
  await database.query(`create database ${latin} encoding 'LATIN1' lc_collate 'C' lc_ctype 'C' template template0`)
  const { settings } = await place(database.url.replace(database.name, latin))
  const host = createHostOf(settings, createHostPieces(), { masterKey: newMasterKey() })
  onTestFinished(() => host.close())
  await expect(host.listen()).rejects.toThrow(/database: its encoding is LATIN1.*ENCODING 'UTF8'/)
})
