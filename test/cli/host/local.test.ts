import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { freePort, startProgram } from '../../support/program.js'
import { type Desk, openDesk } from '../../support/tool.js'

const patience = { timeout: 20_000, interval: 50 }
const ann = { email: 'ann@example.org', password: 'a difference engine of brass' }

/** A desk with the settings of a host in its folder, and the built `latchkey serve` on them. */
async function openHostDesk(): Promise<Desk & { serve(): Promise<{ url: string; stop(): Promise<void> }> }> {
  const desk = await openDesk()
  const [port, adminPort] = [await freePort(), await freePort()]
  const url = `http://127.0.0.1:${adminPort}`
  const settings = {
    data: './data',
    baseUrl: `http://127.0.0.1:${port}`,
    adminUrl: url,
    listen: `127.0.0.1:${port}`,
    adminListen: `127.0.0.1:${adminPort}`,
    auth: { password: { checkBreached: false }, admin: { twoFactor: false } },
  }
  await writeFile(join(desk.folder, 'latchkey.host.json'), JSON.stringify(settings))
  return {
    ...desk,
    async serve() {
      const program = startProgram(process.execPath, [desk.main, 'serve'], { cwd: desk.folder })
      onTestFinished(() => program.stop())
      await program.printed(/is served at/)
      return { url, stop: () => program.stop() }
    },
  }
}

interface Answer {
  status: number
  body: { accessToken?: string; id?: string; code?: string }
}

async function call(url: string, method: string, path: string, body?: unknown, token?: string): Promise<Answer> {
  const response = await fetch(`${url}/auth${path}`, {
    method,
    headers: {
      'x-auth-mode': 'token',
      ...(body !== undefined && { 'content-type': 'application/json' }),
      ...(token !== undefined && { authorization: `Bearer ${token}` }),
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  })
  const text = await response.text()
  return { status: response.status, body: text === '' ? {} : JSON.parse(text) }
}

async function signIn(url: string): Promise<string> {
  const { status, body } = await call(url, 'POST', '/login', ann)
  expect({ status, body }).toMatchObject({ status: 200 })
  return body.accessToken ?? ''
}

describe('beside a running host', { timeout: 120_000 }, () => {
  test('create-admin, users, audit, admintokens and doctor work, and the host follows', async () => {
    const desk = await openHostDesk()
    const { url } = await desk.serve()
    const made = await desk.run(['create-admin', ann.email, '--password', '-'], { input: ann.password })
    expect(made).toMatchObject({ code: 0, stdout: `Created account ${ann.email} with the right ADMIN.\n` })
    expect(made.stderr).toContain(`local ${join(desk.folder, 'data', 'host.db')}`)
    const setUp = { key: 'x'.repeat(43), email: 'eve@example.org', password: ann.password }
    expect((await call(url, 'POST', '/setup', setUp)).status).toBe(404)

    const token = await signIn(url)
    const home = () => call(url, 'GET', '/admin/api', undefined, token)
    await vi.waitFor(async () => expect((await home()).status).toBe(200), patience)
    const created = await call(url, 'POST', '/admin/api/admintokens', { owner: 'personal', name: 'ci' }, token)
    expect(created.status).toBe(201)

    expect((await desk.run(['users'])).stdout).toContain(ann.email)
    expect((await desk.run(['admintokens', '--config', 'latchkey.host.json'])).stdout).toContain(
      'personal ann@example.org',
    )
    expect(await desk.run(['remove-admintoken', created.body.id ?? ''])).toMatchObject({ code: 0 })
    expect((await desk.run(['audit'])).stdout).toContain('admin_token_removed')
    for (const name of ['one', 'two']) {
      await call(url, 'POST', '/admin/api/admintokens', { owner: 'personal', name }, token)
    }
    expect((await desk.run(['remove-admintoken', '--all', '--yes'])).stdout).toBe('Removed 2 admin tokens.\n')
    expect((await desk.run(['admintokens', '--json'])).stdout).toBe('[]\n')
    expect(await desk.run(['audit', 'verify'])).toMatchObject({ code: 0 })
    expect(await desk.run(['migrate'])).toMatchObject({ code: 0, stdout: 'The schema is current.\n' })
    const doctor = await desk.run(['doctor'])
    expect(doctor.code).toBe(6)
    expect(doctor.stdout).toContain('master_key_unsaved  The key is in')
    expect(doctor.stdout).not.toContain('The control API is off')

    const again = await desk.run(['create-admin', ann.email, '--password', '-'], { input: ann.password })
    expect(again.stdout).toBe(`Account ${ann.email} has the right ADMIN and a new password.\n`)
    await vi.waitFor(async () => expect((await home()).status).toBe(401), patience)
  })

  test('keys rotate while spaces are in use: both keys open, the host reads the new one, and the former may go', async () => {
    const desk = await openHostDesk()
    const running = await desk.serve()
    const { url } = running
    await desk.run(['create-admin', ann.email, '--password', '-'], { input: ann.password })
    const token = await signIn(url)
    const api = (method: string, path: string, body?: unknown) => call(url, method, `/admin/api${path}`, body, token)
    await vi.waitFor(async () => expect((await api('POST', '/spaces', { name: 'dev' })).status).toBe(201), patience)
    const variable = { name: 'GREETING', value: 'good day', encrypted: false }
    expect((await api('POST', '/spaces/dev/env', variable)).status).toBe(204)

    const file = join(desk.folder, 'data', 'master.key')
    const former = await readFile(file, 'utf8')
    const rotated = await desk.run(['keys', 'rotate'])
    expect(rotated).toMatchObject({ code: 0 })
    expect(rotated.stdout).toMatch(
      /^Wrapped the data keys of 1 space again, under the master key [\w-]{8}\.\nThe former key /,
    )
    const both = await readFile(file, 'utf8')
    expect(both.endsWith(`\n${former}`)).toBe(true)
    const shown = async () => JSON.stringify((await api('GET', '/spaces/dev/env')).body)
    expect(await shown()).toContain('good day')

    await writeFile(file, both.slice(0, both.indexOf('\n') + 1))
    expect((await api('POST', '/spaces', { name: 'test' })).status).toBe(201)
    expect(await desk.run(['keys', 'rotate', '--deep'])).toMatchObject({ code: 0 })
    expect(await shown()).toContain('good day')
    expect((await desk.run(['audit', '--event', 'keys_rotated', '--json'])).stdout).toContain('"deep": true')
    await running.stop()
    await desk.serve()
    expect(await shown()).toContain('good day')
  })
})

test('commands on a space are exit 4, and a folder without a host is exit 2 and stays as it was', async () => {
  const desk = await openHostDesk()
  const missing = await desk.run(['users'])
  expect(missing).toMatchObject({ code: 2, stdout: '' })
  expect(missing.stderr).toContain('run latchkey serve once')
  expect(await desk.run(['deploy'])).toMatchObject({ code: 4, stdout: '' })
  const running = await desk.serve()
  await running.stop()
  for (const args of [
    ['tokens'],
    ['add-token'],
    ['jwks'],
    ['whitelist'],
    ['info'],
    ['spaces'],
    ['sessions'],
    ['mail'],
  ]) {
    expect({ args, ...(await desk.run(args)) }).toMatchObject({ args, code: 4, stdout: '' })
  }
})

test('keys rotate needs the folder of a host', async () => {
  const desk = await openDesk()
  expect(await desk.run(['--url', 'http://127.0.0.1:1', 'keys', 'rotate'])).toMatchObject({ code: 4 })
  expect(await desk.run(['keys', 'rotate'])).toMatchObject({ code: 2 })
})

test('serve refuses --env-file, because it would read no variable of it', async () => {
  const desk = await openHostDesk()
  // Node 20 looks for the file itself.
  await writeFile(join(desk.folder, '.env'), '')
  const { code, stderr } = await desk.run(['serve', '--env-file', '.env'])
  expect([code, stderr]).toEqual([2, expect.stringContaining('The host reads no --env-file.')])
})
