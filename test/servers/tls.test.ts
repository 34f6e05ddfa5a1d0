import { afterAll, beforeAll, expect, test } from 'vitest'
import { openSqlStore } from '../../src/store/sql/store.js'
import { storeOptions, temporaryFolder } from '../support/databases.js'
import { createDatabase, serverUrls, type TestDatabase } from '../support/servers.js'
import { startTlsPostgres, type TlsPostgres } from '../support/tls-postgres.js'

let folder: Awaited<ReturnType<typeof temporaryFolder>>
let database: TestDatabase
let server: TlsPostgres

beforeAll(async () => {
  folder = await temporaryFolder()
  database = await createDatabase('postgres')
  const { hostname, port } = new URL(serverUrls.postgres)
  server = await startTlsPostgres(folder.path, { host: hostname, port: Number(port) })
})
afterAll(async () => {
  await server.close()
  await database.close()
  await folder.remove()
})

async function open(host: string, query: string): Promise<void> {
  const url = new URL(`${database.url}?${query}`)
  url.hostname = host
  url.port = String(server.port)
  const store = await openSqlStore({ ...storeOptions(), database: { kind: 'postgres', url: url.href } })
  await store.close()
}

test('a server whose certificate and name are right is connected to', async () => {
  await open('localhost', `sslmode=require&sslrootcert=${server.certificate}`)
  await open('localhost', `ssl-ca=${server.certificate}`)
})

test.each([
  ['that nobody vouches for', 'localhost', () => 'sslmode=require', /DEPTH_ZERO_SELF_SIGNED_CERT/],
  ['of another name', '127.0.0.1', () => `sslrootcert=${server.certificate}`, /ERR_TLS_CERT_ALTNAME_INVALID/],
])('one with a certificate %s is not', async (_name, host, query, why) => {
  await expect(open(host, query())).rejects.toThrow(why)
})

test('one with any certificate is, where the URL asks for no check', async () => {
  await open('127.0.0.1', 'sslmode=no-verify')
})
