import { join } from 'node:path'
import Database from 'better-sqlite3'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { countedCalls } from '../support/counted-calls.js'
import { type ListeningHost, listeningHost } from '../support/listening-host.js'
import { rawConnection } from '../support/raw-http.js'

vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 })

let host: ListeningHost
beforeAll(async () => {
  host = await listeningHost()
  await host.browser.post('/auth/admin/api/spaces', { name: 'dev' })
  expect(await host.deploy('dev', 'friendly')).toMatchObject({ done: true })
})
afterAll(() => host.close())

const atOnce = 10
const request = (path: string) => `GET ${path} HTTP/1.1\r\nHost: ${new URL(host.adminUrl).host}\r\n\r\n`
const adminConnection = () => rawConnection(Number(new URL(host.adminUrl).port))

/** That many requests on one connection to the admin socket, ten of them at a time; their answers. */
async function pipelined(path: string, count: number) {
  const connection = await adminConnection()
  const answers: { status: number; body: string }[] = []
  while (answers.length < count) {
    connection.write(request(path).repeat(atOnce))
    for (let n = 0; n < atOnce; n += 1) {
      const { status, body } = await connection.answer()
      answers.push({ status, body: body.toString() })
    }
  }
  connection.destroy()
  return answers
}

/** The status of an answer of the application in the space. */
const askSpace = async () => (await fetch(`${host.baseUrl}/dev/open`)).status

/** How many rows a flood could add. */
function rowsKept(): unknown {
  const database = new Database(join(host.data, 'host.db'), { readonly: true })
  const count = (table: string) => database.prepare(`select count(*) as count from ${table}`).get()
  const counts = [count('latchkey_audit'), count('latchkey_counters')]
  database.close()
  return counts
}

// This test comes first, because the flood of the next one fills the count of the address.
test('ATK-290 a document that depends on the settings is made once for pipelined requests, and 300 at once end the connection', async () => {
  const read = () => pipelined('/auth/openapi.json', atOnce)
  const burst = await adminConnection()
  const [first = 0, flood = 0, cut = 0] = await countedCalls(
    async () => void (await read()),
    async () => {
      const [one] = await read()
      for (let sent = 0; sent < 240; sent += atOnce) {
        for (const answer of await read()) expect(answer).toEqual({ ...one, status: 200 })
        expect(await askSpace()).toBe(200)
      }
    },
    async () => {
      burst.write(request('/auth/openapi.json').repeat(300))
      await burst.closed()
    },
  )
  expect(first).toBeGreaterThan(25_000)
  expect(flood / 240).toBeLessThan(5_000)
  expect(cut).toBeLessThan(25_000)
  expect((await host.browser.get('/auth/admin')).status).toBe(200)
})

test('ATK-235 a refusal of the admin socket costs what an unknown address costs, and a space answers all the while', async () => {
  const path = '/auth/admin/api/spaces'
  await pipelined(path, 700)
  const before = rowsKept()
  const refused = new Set<number>()
  const [unknown = 0, flood = 0] = await countedCalls(
    async () => void (await pipelined('/auth/nowhere', 1_000)),
    async () => {
      for (let sent = 0; sent < 5_000; sent += 250) {
        for (const { status } of await pipelined(path, 250)) refused.add(status)
        expect(await askSpace()).toBe(200)
      }
    },
  )
  for (const status of refused) expect([401, 429]).toContain(status)
  // A statement of the database or a digest for each would be several times as much.
  expect(flood / 5_000).toBeLessThan((3 * unknown) / 1_000)
  expect(rowsKept()).toEqual(before)
})
