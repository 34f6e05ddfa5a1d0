import { createHash, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { readdir, readFile, stat, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, expect, onTestFinished, test, vi } from 'vitest'
import { type CollectionsHost, collectionsHost } from '../../support/collections-host.js'
import { adminToken } from '../../support/host-control-server.js'
import { type Desk, openDesk, type RunOptions } from '../../support/tool.js'

vi.setConfig({ testTimeout: 120_000, hookTimeout: 60_000 })

let host: CollectionsHost
let desk: Desk
beforeAll(async () => {
  host = await collectionsHost()
  for (const name of ['dev', 'prod']) await host.createSpace(name)
  await host.importText('notes', '{"_id":"a"}\n{"_id":"b"}\n')
})
afterAll(() => host.close())
beforeEach(async () => {
  desk = await openDesk()
})

async function withToken(commands: readonly string[] = ['backup', 'restore']) {
  const token = (await host.adminToken({ commands }))['x-admintoken'] ?? ''
  return (args: readonly string[], options: RunOptions = {}) =>
    desk.run(['--url', host.adminUrl, ...args], { ...options, env: { LATCHKEY_ADMIN_TOKEN: token } })
}

const ids = async () => (await host.query('notes', {})).rows.slice(0, -1)

test('a space is backed up to a file, restored from it, and that is undone', async () => {
  const latchkey = await withToken()
  const made = await latchkey(['backup', '-f', 'dev.tar.gz'])
  expect([made.code, made.stderr]).toEqual([0, ''])
  const file = join(desk.folder, 'dev.tar.gz')
  const sha256 = createHash('sha256')
    .update(await readFile(file))
    .digest('hex')
  expect(made.stdout).toBe(`Backup of dev: 1 collection, 2 objects, sha256 ${sha256}\nWritten to dev.tar.gz\n`)
  expect((await stat(file)).mode & 0o777).toBe(0o600)
  expect(await latchkey(['backup', '-f', 'dev.tar.gz'])).toMatchObject({ code: 2, stdout: '' })
  expect((await latchkey(['backup', '-f', 'dev.tar.gz', '--force', '--json'])).stdout).toContain('"objects": 2')
  expect((await latchkey(['backup'])).code).toBe(0)
  expect(await readdir(desk.folder)).toEqual([expect.stringMatching(/^dev-\d{8}T\d{4}Z\.tar\.gz$/), 'dev.tar.gz'])

  await host.importText('notes', '{"_id":"later"}\n')
  const verified = await latchkey(['restore', 'dev.tar.gz', '--verify-only'])
  expect(verified.stdout).toMatch(
    /^The archive is whole: 1 collection, 2 objects of [-\dT:]{16}Z\.\nNothing was changed\.\n$/,
  )
  expect(await ids()).toHaveLength(3)

  const unconfirmed = await latchkey(['restore', 'dev.tar.gz'])
  expect(unconfirmed).toMatchObject({ code: 2, stdout: '' })
  expect(unconfirmed.stderr).toContain('This replaces the data of dev. It can be undone for 24 hours.')
  expect((await latchkey(['restore', 'dev.tar.gz', '--confirm', 'prod'])).code).toBe(2)
  const restored = await latchkey(['restore', 'dev.tar.gz', '--confirm', 'dev'])
  expect(restored.stdout).toMatch(/^Restored dev to [-\dT:]{16}Z\. Undo within 24 h: latchkey restore --undo\n$/)
  expect(restored.code).toBe(0)
  expect(await ids()).toHaveLength(2)

  const undone = await latchkey(['restore', '--undo'])
  expect([undone.code, undone.stdout]).toEqual([0, expect.stringContaining('latchkey restore --undo')])
  expect(await ids()).toHaveLength(3)
  expect((await latchkey(['restore', '--undo', '--confirm', 'dev'])).code).toBe(2)
  expect((await latchkey(['restore', 'none.tar.gz', '--confirm', 'dev'])).code).toBe(2)
})

test('a backup to stdout is nothing but the archive', async () => {
  const token = (await host.adminToken({ commands: ['backup'] }))['x-admintoken'] ?? ''
  const line = `--url ${host.adminUrl} --admintoken ${token} backup -f -`
  const { code, stderr } = await desk.shell(`${line} > dev.tar.gz`)
  const archive = await readFile(join(desk.folder, 'dev.tar.gz'))
  expect(archive.subarray(0, 2)).toEqual(Buffer.from([0x1f, 0x8b]))
  expect(stderr).toMatch(/Backup of dev: 1 collection, \d+ objects, sha256 [0-9a-f]{64}\n$/)
  expect(stderr).toContain(createHash('sha256').update(archive).digest('hex'))
  expect(code).toBe(0)
  expect(await readdir(desk.folder)).toEqual(['dev.tar.gz'])
  const { code: atTerminal, screen } = await desk.type(line.split(' '), [])
  expect([atTerminal, screen]).toEqual([2, expect.stringContaining('A backup is no text for a terminal.')])
})

test('what a token may not bring is refused before the archive was read, and another space wants both names', async () => {
  const latchkey = await withToken()
  await latchkey(['backup', '-f', 'dev.tar.gz'])
  for (const option of ['--settings', '--foreign', '--release']) {
    const { code, stderr } = await latchkey(['restore', 'dev.tar.gz', '--confirm', 'dev', option])
    expect([code, stderr]).toEqual([3, expect.stringContaining('A token for restore brings data')])
  }
  const args = ['restore', 'dev.tar.gz', '--space', 'prod', '--confirm']
  expect((await latchkey([...args, 'prod'])).stderr).toContain('must be "prod,dev"')
  expect((await latchkey([...args, 'prod,dev'])).stdout).toContain('Restored prod to ')
  const other = await withToken(['deploy'])
  expect((await other(['backup', '-f', 'more.tar.gz'])).code).toBe(3)
  expect(await readdir(desk.folder)).toEqual(['dev.tar.gz'])
})

test('ATK-168 a large archive that is refused at its beginning is told, not cut off', async () => {
  const latchkey = await withToken()
  const before = await ids()
  await writeFile(join(desk.folder, 'noise.tar.gz'), randomBytes(30_000_000))
  const { code, stderr } = await latchkey(['restore', 'noise.tar.gz', '--confirm', 'dev'])
  expect([code, stderr]).toEqual([1, expect.stringContaining('The archive is cut off or damaged.')])
  expect(await ids()).toEqual(before)
})

test('ATK-193 a backup that breaks off stays a part, and a name of the server is no path', async () => {
  let disposition = 'attachment; filename="dev-20260131T1200Z.tar.gz"'
  const server = createServer((request, response) => {
    if (!request.url?.endsWith('/backup')) {
      const home = { home: 'host', version: '0.2.0', project: 'shop', spaces: [], adminToken: { id: 'a41f' } }
      return void response.setHeader('content-type', 'application/json').end(JSON.stringify(home))
    }
    const counts = { 'x-latchkey-collections': '1', 'x-latchkey-documents': '2' }
    response.writeHead(200, { 'content-disposition': disposition, ...counts })
    response.write('half', () => response.destroy())
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => void server.close())
  const address = server.address()
  const url = `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}`
  const env = { LATCHKEY_ADMIN_TOKEN: adminToken }
  const { code, stderr } = await desk.run(['--url', url, 'backup'], { env })
  expect([code, stderr]).toEqual([1, expect.stringContaining('dev-20260131T1200Z.tar.gz.part. It is not whole.')])
  expect(await readdir(desk.folder)).toEqual(['dev-20260131T1200Z.tar.gz.part'])
  disposition = 'attachment; filename="../../.bashrc"'
  expect((await desk.run(['--url', url, 'backup'], { env })).code).not.toBe(0)
  expect(await readdir(desk.folder)).toHaveLength(1)
})
