import { execFile } from 'node:child_process'
import { cp, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { build, type Format } from 'esbuild'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { nodeBringsSqlite } from '../src/store/sql/engine/sqlite-driver.js'
import { type Program, startProgram } from './support/program.js'

const root = fileURLToPath(new URL('..', import.meta.url))
const banner =
  "import { createRequire as bundleRequire } from 'node:module'; const require = bundleRequire(import.meta.url);"
/** What the bundle finds beside it: a driver where Node has none. */
const driver = nodeBringsSqlite() ? [] : ['better-sqlite3']

let folder: string
let peers: string[]

/** An application as npm installs it, first without optional packages. */
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'latchkey-bundles-'))
  const { dependencies, peerDependencies } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8'))
  peers = Object.keys(peerDependencies)
  await mkdir(join(folder, 'node_modules/latchkey'), { recursive: true })
  for (const name of ['package.json', 'dist']) {
    await cp(join(root, name), join(folder, 'node_modules/latchkey', name), { recursive: true })
  }
  await link(folder, Object.keys(dependencies))
  await writeFile(join(folder, 'app.js'), application)
})

afterAll(() => rm(folder, { recursive: true, force: true }))

async function link(place: string, names: readonly string[]): Promise<void> {
  for (const name of names) {
    await mkdir(join(place, 'node_modules', name, '..'), { recursive: true })
    await symlink(join(root, 'node_modules', name), join(place, 'node_modules', name))
  }
}

/** Prints its port once it is open, and everything that its process logs and starts. */
const application = `
  import { createServer } from 'node:http'
  import { init } from 'latchkey'
  process.on('worker', () => console.log('a thread started'))
  const logger = { warn: (...line) => console.log(JSON.stringify(line)), error: (...line) => console.log(JSON.stringify(line)) }
  const server = createServer((req, res) => res.end(req.auth?.email))
  const auth = init(server, {
    JWT_ACCESS_TOKEN_SECRET: 'TqV8wZ4nK1rX6mB3pJ9sD5gH2fL7cY0e',
    JWT_REFRESH_TOKEN_SECRET: 'Ea9Rk3Wn7Vb1Xc5Zt8Mq2Pj6Ls4Gd0Hf',
    baseUrl: 'http://localhost:3000',
    database: 'sqlite::memory:',
    logger,
    registration: { emailVerification: 'optional' },
    password: { checkBreached: false, algorithm: process.env.ALGORITHM ?? 'bcrypt' },
  })
  auth.ready().then(
    () => server.listen(0, '127.0.0.1', () => console.log('listens on ' + server.address().port)),
    (error) => console.log('did not open: ' + error.message),
  )
`

interface Bundled {
  /** The bundle, alone in its folder. */
  file: string
  /** Starts it; packages are put beside it. */
  start(packages: readonly string[], env?: Readonly<Record<string, string>>): Promise<Program>
}

async function bundled(make: (file: string) => Promise<unknown>, name: string): Promise<Bundled> {
  const place = await mkdtemp(join(tmpdir(), 'latchkey-bundle-'))
  onTestFinished(() => rm(place, { recursive: true, force: true }))
  const file = join(place, name)
  await make(file)
  return {
    file,
    async start(packages, env = {}) {
      await link(place, packages)
      const program = startProgram(process.execPath, [file], { cwd: tmpdir(), env })
      onTestFinished(() => program.stop())
      return program
    },
  }
}

const withEsbuild = (format: Format, options: { banner?: string } = {}) =>
  bundled(
    (outfile) =>
      build({
        absWorkingDir: folder,
        entryPoints: ['app.js'],
        bundle: true,
        platform: 'node',
        format,
        outfile,
        logLevel: 'silent',
        ...(options.banner !== undefined && { banner: { js: options.banner } }),
      }).then(({ warnings }) => expect(warnings).toEqual([])),
    format === 'esm' ? 'server.mjs' : 'server.cjs',
  )

const withVite = () =>
  bundled(async (file) => {
    await writeFile(join(folder, 'vite.config.mjs'), 'export default { ssr: { noExternal: true } }')
    const vite = join(root, 'node_modules/vite/bin/vite.js')
    await promisify(execFile)(process.execPath, [vite, 'build', '--ssr', 'app.js', '--outDir', join(file, '..')], {
      cwd: folder,
    })
  }, 'app.mjs')

/** Registers over HTTP, signs in, and asks the guarded API. Returns the statuses and what the program printed meanwhile. */
async function use(program: Program): Promise<unknown> {
  const [, port] = await program.printed(/listens on (\d+)/)
  const origin = `http://127.0.0.1:${port}`
  const headers = { 'content-type': 'application/json', 'x-auth-mode': 'token', host: 'localhost:3000' }
  const body = JSON.stringify({ email: 'ada@example.test', password: 'correct horse battery' })
  const registered = await fetch(`${origin}/auth/register`, { method: 'POST', headers, body })
  const signedIn = await fetch(`${origin}/auth/login`, { method: 'POST', headers, body })
  const { accessToken }: { accessToken: string } = JSON.parse(await signedIn.text())
  const notes = await fetch(`${origin}/api/notes`, { headers: { authorization: `Bearer ${accessToken}` } })
  return [registered.status, signedIn.status, notes.status, await notes.text()]
}

const used = [201, 200, 200, 'ada@example.test']

test('ATK-243 a bundle of a host answers SIGUSR1 as the package does: no inspector opens', async () => {
  const place = await mkdtemp(join(folder, 'host-'))
  await writeFile(
    join(place, 'host.js'),
    `import { createHost } from 'latchkey/host'
    globalThis.createHost = createHost
    setInterval(() => {}, 1_000)
    process.kill(process.pid, 'SIGUSR1')
    setTimeout(() => console.log('signalled'), 100)`,
  )
  const file = join(place, 'server.mjs')
  const entryPoints = [join(place, 'host.js')]
  const shared = { bundle: true, platform: 'node', format: 'esm', logLevel: 'silent' } as const
  await build({ ...shared, entryPoints, outfile: file, external: peers, banner: { js: banner } })
  await link(place, peers)
  const program = startProgram(process.execPath, [file], { cwd: place })
  onTestFinished(() => program.stop())
  await program.printed(/signalled/)
  expect(program.output()).not.toMatch(/debugger/i)
})

describe.each([
  ['without optional packages', false],
  ['with all optional packages installed', true],
])('%s', (_name, installed) => {
  beforeAll(async () => {
    if (installed) await link(folder, peers)
  })

  test.each([
    ['an ES module', 'esm', banner],
    ['CommonJS', 'cjs', undefined],
  ] as const)('esbuild makes %s of an application, which hashes in threads', async (_format, format, js) => {
    const { start } = await withEsbuild(format, js === undefined ? {} : { banner: js })
    const program = await start(driver)
    expect(await use(program)).toEqual(used)
    await program.printed(/a thread started/)
    await expect(program.stop()).resolves.toBeUndefined()
  })

  test('Vite bundles an application with everything, which hashes in threads', async () => {
    const { start } = await withVite()
    const program = await start(driver)
    expect(await use(program)).toEqual(used)
    await program.printed(/a thread started/)
  })
})

test.each(['esm', 'cjs'] as const)('a bundle (%s) finds the optional packages beside it', async (format) => {
  const { start } = await withEsbuild(format, format === 'esm' ? { banner } : {})
  const program = await start([...driver, '@node-rs/argon2'], { ALGORITHM: 'argon2id' })
  expect(await use(program)).toEqual(used)
  await program.printed(/a thread started/)
})

test.each(['esm', 'cjs'] as const)('a bundle (%s) says at init which optional package it needs', async (format) => {
  const { start } = await withEsbuild(format, format === 'esm' ? { banner } : {})
  const program = await start(driver, { ALGORITHM: 'argon2id' })
  await program.printed(
    /argon2id needs a package that cannot be loaded here \(MODULE_NOT_FOUND\): npm install @node-rs\/argon2/,
  )
})

test('ready() of an ES module bundle without require rejects, and says which banner helps', async () => {
  const { start } = await withEsbuild('esm')
  const program = await start(driver)
  const [, message] = await program.printed(/did not open: (.*)/)
  expect(message).toContain('jsonwebtoken does not load in this bundle')
  expect(message).toContain(banner)
})
