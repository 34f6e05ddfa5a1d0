import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmod, mkdir, readdir, stat, writeFile } from 'node:fs/promises'
import { request } from 'node:http'
import { dirname, join } from 'node:path'
import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest'
import { newMasterKey } from '../../src/host/sealing/master-keys.js'
import { type BuiltProgram, buildProgram, hostPath } from '../support/host-folder.js'

const patience = { timeout: 20_000 }
const processes: ChildProcess[] = []

let program: BuiltProgram
beforeAll(async () => {
  program = await buildProgram(new URL('../support/serving-process.ts', import.meta.url))
})
afterEach(() => {
  for (const each of processes.splice(0)) each.kill('SIGKILL')
})
afterAll(() => program.remove())

interface Place {
  data: string
  config: string
  listen: string
}

async function place(more: Record<string, unknown> = {}): Promise<Place> {
  const data = await hostPath()
  const folder = dirname(data)
  const listen = join(folder, 'front.sock')
  const config = join(folder, 'latchkey.host.json')
  await writeFile(config, JSON.stringify({ data, listen, adminListen: join(folder, 'admin.sock'), ...more }))
  return { data, config, listen }
}

interface Serving {
  child: ChildProcess
  output(): string
  /** Resolves with the exit code, or null after a signal. */
  exited: Promise<number | null>
}

/** With the umask of a careless shell. */
function run({ config }: Pick<Place, 'config'>, env: Record<string, string> = {}): Serving {
  const shell = ['-c', 'umask 000; exec "$0" "$@"', process.execPath, program.path, config]
  const child = spawn('sh', shell, { stdio: ['ignore', 'pipe', 'pipe'], env: { PATH: process.env.PATH, ...env } })
  processes.push(child)
  let output = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding('utf8').on('data', (chunk: string) => {
      output += chunk
    })
  }
  return { child, output: () => output, exited: once(child, 'close').then(([code]) => code) }
}

async function serving(at: Place, env: Record<string, string> = {}): Promise<Serving> {
  const started = run(at, env)
  await vi.waitFor(() => expect(started.output()).toContain('is served at'), patience)
  return started
}

function health({ listen }: Place): Promise<number> {
  return new Promise((resolve, reject) => {
    const options = { socketPath: listen, path: '/health', headers: { host: '127.0.0.1:4310' }, agent: false as const }
    request(options, (response) => {
      response.resume().on('end', () => resolve(response.statusCode ?? 0))
    })
      .on('error', reject)
      .end()
  })
}

async function filesBelow(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { withFileTypes: true, recursive: true })
  return entries
    .filter((entry) => !entry.isDirectory())
    .map((entry) => join(entry.parentPath ?? entry.path, entry.name))
}

test('serves with files for its user alone, whatever the umask of the shell was', async () => {
  const at = await place()
  await serving(at)
  expect(await health(at)).toBe(200)
  expect((await stat(at.data)).mode & 0o777).toBe(0o700)
  const files = await filesBelow(at.data)
  expect(files.length).toBeGreaterThan(4)
  for (const file of files) expect({ file, mode: (await stat(file)).mode & 0o777 }).toEqual({ file, mode: 0o600 })
  expect((await stat(at.listen)).mode & 0o777).toBe(0o660)
})

test('a second serve names the holder and exits with 1; after kill -9 the folder is free', async () => {
  const at = await place()
  const first = await serving(at)
  const second = run(at)
  expect(await second.exited).toBe(1)
  expect(second.output()).toContain(`is in use by process ${first.child.pid} since 2`)
  first.child.kill('SIGKILL')
  await first.exited
  await serving(at)
  expect(await health(at)).toBe(200)
})

test('SIGTERM makes health 503 at once, and then the process exits with 0', async () => {
  const at = await place()
  const { child, exited } = await serving(at)
  child.kill('SIGTERM')
  await vi.waitFor(async () => expect(await health(at)).toBe(503), patience)
  expect(await exited).toBe(0)
  await serving(at)
})

test('ATK-183 SIGUSR1 opens no inspector', async () => {
  const at = await place()
  const { child, output, exited } = await serving(at)
  child.kill('SIGUSR1')
  expect(await health(at)).toBe(200)
  // Node writes a line whether its inspector starts or its port is taken.
  child.kill('SIGTERM')
  expect(await exited).toBe(0)
  expect(output()).not.toMatch(/debugger|inspector/i)
})

test('the master key of the environment is used and taken out of it', async () => {
  const at = await place()
  const key = newMasterKey()
  const { child, exited, output } = await serving(at, { LATCHKEY_MASTER_KEY: key })
  expect(await readdir(at.data)).not.toContain('master.key')
  child.kill('SIGTERM')
  expect(await exited).toBe(0)
  expect(output()).toContain('ended with no key in the environment')
  expect(output()).not.toContain(key)
})

test('faults of the settings are all named, and the exit code is 1', async () => {
  const { exited, output } = run(await place({ listn: 'x', adminUrl: 'http://127.0.0.1:4310' }))
  expect(await exited).toBe(1)
  expect(output()).toContain('listn: is not a setting; did you mean listen?')
  expect(output()).toContain('adminUrl: must have another port than baseUrl')
})

test('settings that others can write to are not loaded', async () => {
  const at = await place()
  await chmod(at.config, 0o666)
  const { exited, output } = run(at)
  expect(await exited).toBe(1)
  expect(output()).toContain(`Other users can write to ${at.config}`)
  await expect(stat(at.data)).rejects.toThrow('ENOENT')
})

test('settings may be a module', async () => {
  const at = await place()
  const folder = join(dirname(at.data), 'module')
  await mkdir(folder)
  const config = join(folder, 'latchkey.host.mjs')
  const settings = { data: at.data, listen: at.listen, adminListen: join(folder, 'admin.sock'), project: 'shop' }
  await writeFile(config, `export default ${JSON.stringify(settings)}`)
  expect((await serving({ ...at, config })).output()).toContain('Project shop is served at')
})

test.each([
  ['an exception', "throw new TypeError('key sk-7')"],
  ['a rejection', "Promise.reject(new TypeError('key sk-7'))"],
])('%s that no code handles is logged without its message, and the host ends with 1', async (_, fault) => {
  const at = await place()
  const config = join(dirname(at.data), 'faulty.mjs')
  const settings = JSON.stringify({
    data: at.data,
    listen: at.listen,
    adminListen: join(dirname(at.data), 'admin.sock'),
  })
  await writeFile(config, `process.on('SIGUSR2', function explode() { ${fault} })\nexport default ${settings}`)
  const { child, output, exited } = await serving({ ...at, config })
  child.kill('SIGUSR2')
  expect(await exited).toBe(1)
  expect(output()).toContain('host_failed')
  expect(output()).toMatch(/TypeError.*faulty\.mjs/s)
  expect(output()).not.toContain('sk-7')
  await serving(at)
})

test('a host that is stopped while it starts ends without saying that it serves', async () => {
  const at = await place()
  const config = join(dirname(at.data), 'hasty.mjs')
  const settings = JSON.stringify({
    data: at.data,
    listen: at.listen,
    adminListen: join(dirname(at.data), 'admin.sock'),
  })
  await writeFile(config, `process.kill(process.pid, 'SIGTERM')\nexport default ${settings}`)
  const { output, exited } = run({ config })
  expect(await exited).toBe(0)
  expect(output()).not.toContain('is served at')
})

test('relative paths count from the folder of the settings', async () => {
  const at = await place()
  const folder = dirname(at.data)
  const config = join(folder, 'relative.json')
  await writeFile(config, JSON.stringify({ data: './own', listen: at.listen, adminListen: join(folder, 'admin.sock') }))
  await serving({ ...at, config })
  expect(await readdir(join(folder, 'own'))).toContain('host.db')
})
