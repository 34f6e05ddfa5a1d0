import { access, readdir, readFile, stat } from 'node:fs/promises'
import { request } from 'node:http'
import { dirname, join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { createHost } from '../../src/host/create-host.js'
import { createHostOf } from '../../src/host/host.js'
import type { Host, HostOptions } from '../../src/host/host-options.js'
import type { HostPieces } from '../../src/host/pieces.js'
import { newMasterKey } from '../../src/host/sealing/master-keys.js'
import { parseHostSettings } from '../../src/host/settings/host-settings.js'
import { hostPath } from '../support/host-folder.js'
import { noSpaces } from '../support/no-spaces.js'

const stopTimes = { noticeMs: 0, drainMs: 1_000 }

async function settingsOf(data: string, lines: unknown[] = []) {
  const write = (fields: unknown) => void lines.push(fields)
  return {
    data,
    listen: join(dirname(data), 'front.sock'),
    adminListen: join(dirname(data), 'admin.sock'),
    auth: { logger: { warn: write, error: write }, password: { checkBreached: false } },
  }
}

async function listening(host: Host): Promise<Host> {
  onTestFinished(() => host.close())
  await host.listen()
  return host
}

async function start(
  data: string,
  options: HostOptions = {},
  pieces: HostPieces<'none'> = noSpaces,
  lines: unknown[] = [],
) {
  const settings = parseHostSettings(await settingsOf(data, lines))
  return listening(createHostOf(settings, pieces, { stopTimes, ...options }))
}

function ask(socketPath: string, path: string, host: string): Promise<{ status: number; text: string }> {
  return new Promise((resolve, reject) => {
    request({ socketPath, path, headers: { host }, agent: false }, (response) => {
      let text = ''
      response.setEncoding('utf8').on('data', (chunk: string) => {
        text += chunk
      })
      response.on('end', () => resolve({ status: response.statusCode ?? 0, text }))
    })
      .on('error', reject)
      .end()
  })
}

const [base, admin] = ['127.0.0.1:4310', '127.0.0.1:4311']

test('a host without spaces serves health, its pages and control API, and 404 for spaces', async () => {
  const data = await hostPath()
  const { listen, adminListen, ...rest } = await settingsOf(data)
  await listening(createHost({ ...rest, listen, adminListen }, { stopTimes }))

  expect(await ask(listen, '/health', base)).toMatchObject({ status: 200, text: '{"status":"ok"}' })
  expect((await ask(listen, '/dev/orders', base)).text).toContain('space_not_found')
  expect((await ask(adminListen, '/auth/login', admin)).status).toBe(200)
  expect((await ask(adminListen, '/auth/admin/api', admin)).status).toBe(401)
})

test('ATK-181 neither socket answers for the other', async () => {
  const data = await hostPath()
  await start(data)
  const { listen, adminListen } = await settingsOf(data)
  for (const path of ['/auth/admin/api', '/auth/admin', '/auth/login']) {
    expect((await ask(listen, path, base)).text).toContain('space_not_found')
    expect((await ask(listen, path, admin)).status).toBe(421)
  }
  expect((await ask(adminListen, '/dev/orders', admin)).status).toBe(404)
  expect((await ask(adminListen, '/auth/login', base)).status).toBe(421)
})

test('the folder holds what the specification names, and every file is private', async () => {
  const data = await hostPath()
  const lines: unknown[] = []
  await start(data, {}, noSpaces, lines)
  const names = await readdir(data)
  expect(names).toEqual(expect.arrayContaining(['host.db', 'host.lock', 'master.key', 'run', 'secrets.json', 'spaces']))
  for (const name of names) {
    const stats = await stat(join(data, name))
    expect({ name, mode: stats.mode & 0o777 }).toEqual({ name, mode: stats.isDirectory() ? 0o700 : 0o600 })
  }
  expect(lines).toContainEqual({ event: 'master_key_made', file: join(data, 'master.key') })
})

test('a second host in the folder learns of the first, which goes on', async () => {
  const data = await hostPath()
  await start(data)
  const { listen } = await settingsOf(data)
  await expect(start(data)).rejects.toThrow(`is in use by process ${process.pid} since`)
  expect((await ask(listen, '/health', base)).status).toBe(200)
})

test('closing frees the folder, and the next start keeps keys and secrets', async () => {
  const data = await hostPath()
  const read = () => Promise.all(['master.key', 'secrets.json'].map((name) => readFile(join(data, name), 'utf8')))
  const first = await start(data)
  const before = await read()
  await first.close()
  await start(data)
  expect(await read()).toEqual(before)
})

test('a start that fails frees what it has taken', async () => {
  const data = await hostPath()
  await expect(start(data, { masterKey: 'no key' })).rejects.toThrow('masterKey: Line 1')
  await start(data, { masterKey: newMasterKey() })
  await expect(access(join(data, 'master.key'))).rejects.toThrow('ENOENT')
})

test('a piece that fails to close keeps nothing else open, and does not hide why a start failed', async () => {
  const data = await hostPath()
  let rightsClosed = 0
  const failing: HostPieces<'none'> = {
    ...noSpaces,
    async openSpaces(ground) {
      const spaces = await noSpaces.openSpaces(ground)
      return { ...spaces, close: () => Promise.reject(new Error('spaces do not close')) }
    },
    close: async () => {
      rightsClosed += 1
    },
  }
  const settings = parseHostSettings(await settingsOf(data))
  const first = createHostOf(settings, failing, { stopTimes })
  await first.listen()
  await expect(first.close()).rejects.toThrow('spaces do not close')
  expect(rightsClosed).toBe(1)
  const second = start(
    data,
    {},
    {
      ...failing,
      firstAdmin: () => ({ exists: () => Promise.reject(new Error('no table')), create: async () => 'exists' }),
    },
  )
  await expect(second).rejects.toThrow('no table')
  expect(rightsClosed).toBe(2)
  await start(data)
})

test('the first start names the file of the set-up key in the log, and shows the address on a terminal alone', async () => {
  const data = await hostPath()
  const lines: unknown[] = []
  const shown: string[] = []
  const pieces = {
    ...noSpaces,
    firstAdmin: () => ({ exists: async () => false, create: async () => 'exists' as const }),
  }
  await start(data, { show: (text) => void shown.push(text) }, pieces, lines)
  const url = (await readFile(join(data, 'setup-url'), 'utf8')).trim()
  expect(url).toMatch(/^http:\/\/127\.0\.0\.1:4311\/auth\/setup\?key=[\w-]{43}$/)
  expect(shown.join()).toContain(url)
  expect(lines).toContainEqual({ event: 'setup_waits', file: join(data, 'setup-url') })
  expect(JSON.stringify(lines)).not.toContain(url)
  const { adminListen } = await settingsOf(data)
  expect((await ask(adminListen, new URL(url).pathname + new URL(url).search, admin)).text).toContain('<form')
})

test('limits of the settings bound what the front reads', async () => {
  const data = await hostPath()
  const settings = await settingsOf(data)
  await listening(createHost({ ...settings, limits: { target: '1KiB', headers: '4KiB' } }, { stopTimes }))
  expect((await ask(settings.listen, `/dev?${'x'.repeat(900)}`, base)).status).toBe(404)
  expect((await ask(settings.listen, `/dev?${'x'.repeat(1_100)}`, base)).status).toBe(414)
})

test('faults of the accounts have the names of the settings of the host, and nothing stays open', async () => {
  const data = await hostPath()
  const settings = await settingsOf(data)
  const away = { baseUrl: 'https://api.example.com', adminUrl: 'https://admin.example.net' }
  const broken = createHost({ ...settings, ...away, auth: { ...settings.auth, otp: { length: 99 } } }, { stopTimes })
  await expect(broken.listen()).rejects.toThrow(/^ {2}auth\.otp\.length: /m)
  const silent = createHost({ ...settings, ...away }, { stopTimes })
  await expect(silent.listen()).rejects.toThrow(/^ {2}mail: is required/m)
  await start(data)
})
