import { execFile } from 'node:child_process'
import { chmod, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { build } from 'esbuild'
import ts from 'typescript'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { WebSocket } from 'ws'
import { createTestClient, type TestClient } from '../src/testing.js'
import {
  applicationFolder,
  secretsForEnvironment,
  strictFaults,
  withoutTypes,
  writeFiles,
} from './support/application-folder.js'
import { codeInMailbox, mainJob } from './support/journey.js'
import { freePort, type Program, startProgram } from './support/program.js'
import { codeBelow, codesBelow } from './support/readme.js'

// Starting programs takes a busy machine its time.
vi.setConfig({ testTimeout: 180_000 })

const root = fileURLToPath(new URL('..', import.meta.url))
const page = (name: string) => join(root, 'docs', `${name}.md`)
const noNetwork = new URL('support/no-network.js', import.meta.url).href
const run = promisify(execFile)

const account = { email: 'ada@example.com', password: 'a difference engine of brass' }
const packages = ['express', 'fastify', 'hono', '@hono/node-server', 'connect', 'ws', 'zod']
const types = ['@types/node', '@types/express']
const bundler = { module: ts.ModuleKind.ESNext, moduleResolution: ts.ModuleResolutionKind.Bundler }

interface Running {
  program: Program
  folder: string
  url: string
  env: Readonly<Record<string, string>>
}

/** An application of these guides, as a process of its own on a free port. */
async function start(code: string, files: Readonly<Record<string, string>> = {}): Promise<Running> {
  const folder = await applicationFolder(...packages)
  await writeFiles(folder, files)
  const port = await freePort()
  await writeFile(join(folder, 'app.mjs'), code.replaceAll('3000', String(port)))
  const env = secretsForEnvironment()
  const program = startProgram('node', ['--import', noNetwork, 'app.mjs'], { cwd: folder, env })
  onTestFinished(() => program.stop())
  await program.printed(/\/dev\/mailbox\?key=/)
  const url = `http://localhost:${port}`
  await expect
    .poll(() =>
      fetch(url).then(
        () => true,
        () => false,
      ),
    )
    .toBe(true)
  return { program, folder, url, env }
}

/** Registers and confirms by the code of the mail. */
async function signUp({ program, url }: Running, more: object = {}): Promise<TestClient> {
  const client = createTestClient(url)
  expect((await client.post('/auth/register', { ...account, ...more })).status).toBe(202)
  const code = await codeInMailbox(program, account.email)
  expect((await client.post('/auth/verify-email', { email: account.email, code })).status).toBe(200)
  return client
}

describe('the example of', () => {
  const examples = [
    ['guides/quickstart', 'Write the app', 'js'],
    ['guides/frameworks/express', 'Example', 'js'],
    ['guides/frameworks/fastify', 'Example', 'js'],
    ['guides/frameworks/hono', 'Example', 'js'],
    ['guides/frameworks/node-http', 'Example', 'js'],
    ['guides/frameworks/node-http', 'connect', 'js'],
    ['guides/frameworks/fetch-api', 'Example', 'js'],
  ] as const

  test.each(examples)('%s, %s, does the main job as it stands there', async (name, heading, language) => {
    const { program, url } = await start(codeBelow(page(name), heading, language))
    await mainJob(program, url, '/api/hello')
  })

  test('the quickstart that latchkey init writes does the main job', async () => {
    const folder = await applicationFolder(...packages)
    await rm(join(folder, 'package.json'))
    // What npm install would put there.
    const tool = '#!/bin/sh\nexec node node_modules/latchkey/dist/cli.js "$@"\n'
    await writeFiles(folder, { 'node_modules/.bin/latchkey': tool })
    await chmod(join(folder, 'node_modules/.bin/latchkey'), 0o755)
    const [prepare = '', start = ''] = codesBelow(page('guides/quickstart'), 'Let the command-line tool do it', 'sh')
    const lines = prepare
      .replace(/^npm install (\w+) (\w+)$/m, 'npm pkg set dependencies.$1=* dependencies.$2=*')
      .replace('latchkey init', 'latchkey init --yes')
    expect(lines).toMatch(/npm pkg set dependencies.latchkey=\* dependencies.express=\*\nnpx latchkey init --yes/)
    await run('sh', ['-e', '-c', lines], { cwd: folder, env: { ...process.env, npm_config_offline: 'true' } })
    expect(await readFile(join(folder, 'index.js'), 'utf8')).toContain('const app = express()')
    const port = await freePort()
    const url = `http://localhost:${port}`
    const [command = '', ...args] = start.trim().split(' ')
    const env = { PORT: String(port), APP_URL: url }
    const program = startProgram(command, ['--import', noNetwork, ...args], { cwd: folder, env })
    onTestFinished(() => program.stop())
    await mainJob(program, url, '/api/hello')
  })

  test('the quickstart leads a browser from the guarded address to the code, and back', async () => {
    const running = await start(codeBelow(page('guides/quickstart'), 'Write the app', 'js'))
    const client = createTestClient(running.url)
    const signIn = await client.open('/api/hello')
    expect(`${signIn.url.pathname}${signIn.url.search}`).toBe('/auth/login?redirect=%2Fapi%2Fhello')
    expect(signIn.body).toContain('/auth/register?redirect&#x3D;%2Fapi%2Fhello')
    const confirm = await client.submit('/auth/register', { ...account, _redirect: '/api/hello' })
    expect(`${confirm.url.pathname}${confirm.url.search}`).toBe('/auth/verify-email?redirect=%2Fapi%2Fhello')
    const code = await codeInMailbox(running.program, account.email)
    const back = await client.submit('/auth/verify-email', { code, _redirect: '/api/hello' })
    expect([back.url.pathname, back.status, back.body]).toEqual(['/api/hello', 200, { hello: account.email }])
  })

  test.each([
    ['guides/quickstart', 'Write the app', 'js'],
    ['guides/frameworks/express', 'Example', 'js'],
  ] as const)('%s, %s, compiles under strict TypeScript', async (name, heading, language) => {
    const folder = await applicationFolder(...packages, ...types)
    await writeFile(join(folder, 'app.ts'), codeBelow(page(name), heading, language))
    expect(strictFaults(folder, ['app.ts'], { module: ts.ModuleKind.NodeNext })).toEqual([])
    expect(strictFaults(folder, ['app.ts'], bundler)).toEqual([])
  })
})

test('the guide to roles protects a route', async () => {
  const running = await start(codeBelow(page('guides/roles'), 'Protect a route', 'js'))
  const client = await signUp(running)
  expect(await client.get('/api/reports')).toMatchObject({ status: 403, body: { code: 'forbidden' } })
})

test('the setting of the guide to roles makes the first admin', async () => {
  const code = codeBelow(page('guides/roles'), 'Protect a route', 'js')
  const running = await start(code.replace('const auth = init(app, {', `$& admin: { emails: ['${account.email}'] },`))
  const client = await signUp(running)
  expect((await client.get('/api/hello')).body).toEqual({ roles: ['ADMIN'] })
  expect((await client.get('/api/reports')).body).toEqual({ reports: [] })
})

test('the guide to custom fields asks for them at sign-up, keeps them and lets the user change them', async () => {
  const running = await start(withoutTypes(codeBelow(page('guides/custom-fields'), 'Allow fields', 'ts')))
  const refused = await createTestClient(running.url).post('/auth/register', account)
  expect(refused).toMatchObject({ status: 400, body: { code: 'invalid_request', errors: [{ path: 'company' }] } })

  const client = await signUp(running, { company: 'Analytical Engines', plan: 'gold' })
  expect((await client.get('/api/hello')).body).toEqual({ company: 'Analytical Engines' })
  const changed = await client.patch<{ user: object }>('/auth/me', { newsletter: true })
  expect(changed.body.user).toMatchObject({ company: 'Analytical Engines', newsletter: true })
  expect(changed.body.user).not.toHaveProperty('plan')
})

test('the types of the guide to custom fields reach hooks and the browser client', async () => {
  const folder = await applicationFolder(...packages, ...types)
  const ownCode = `import type { HookInput } from 'latchkey'
    import type { User } from 'latchkey/client'
    export const ofUser = (user: User): string => user.company
    export const ofHook = ({ user }: HookInput): boolean => user.newsletter`
  const files = { 'app.ts': codeBelow(page('guides/custom-fields'), 'Allow fields', 'ts'), 'page.ts': ownCode }
  await writeFiles(folder, files)
  expect(strictFaults(folder, Object.keys(files), { module: ts.ModuleKind.NodeNext })).toEqual([])
  expect(strictFaults(folder, Object.keys(files), bundler)).toEqual([])
})

test('the built-in pages ask for the fields of the guide to custom fields', async () => {
  const running = await start(withoutTypes(codeBelow(page('guides/custom-fields'), 'Allow fields', 'ts')))
  const client = createTestClient(running.url)
  const register = (await client.open('/auth/register')).body
  expect(register).toMatch(/>Company<\/label>\s*<input [^>]*name="company" type="text"[^>]* required>/)
  expect(register).toMatch(/<input [^>]*name="newsletter" type="checkbox" value="true">\s*Newsletter/)
  const fields = { company: 'Analytical Engines', newsletter: 'true', _checkboxes: 'newsletter' }
  const confirm = await client.submit('/auth/register', { ...account, ...fields })
  expect(confirm.url.pathname).toBe('/auth/verify-email')
  await client.submit('/auth/verify-email', { code: await codeInMailbox(running.program, account.email) })
  const me = await client.get<{ user: object }>('/auth/me')
  expect(me.body.user).toMatchObject({ company: 'Analytical Engines', newsletter: true })
  expect((await client.open('/auth/account')).body).toContain('value="Analytical Engines"')
})

describe('the guide to scripts', () => {
  const shell = async (running: Running, blocks: readonly string[]) => {
    const text = blocks.join('\n').replaceAll('http://localhost:3000', running.url)
    return (await run('sh', ['-e', '-c', text], { cwd: running.folder })).stdout
  }

  test('signs in, calls the API and refreshes in token mode', async () => {
    const running = await start(codeBelow(page('guides/quickstart'), 'Write the app', 'js'))
    await signUp(running)
    const blocks = codesBelow(page('guides/scripts'), 'Use token mode', 'sh')
    expect(blocks).toHaveLength(2)
    expect(await shell(running, blocks)).toBe(`{"hello":"${account.email}"}`)
    const refreshed = JSON.parse(await readFile(join(running.folder, 'session.json'), 'utf8'))
    expect(refreshed).toMatchObject({ accessToken: expect.any(String), user: { email: account.email } })
  })

  test('does the same with a cookie jar', async () => {
    const running = await start(codeBelow(page('guides/quickstart'), 'Write the app', 'js'))
    await signUp(running)
    const said = await shell(running, codesBelow(page('guides/scripts'), 'Use a cookie jar', 'sh'))
    expect(said).toContain(`{"hello":"${account.email}"}`)
    expect(said).not.toContain('"code"')
    const later = await shell(running, ['curl -s -b jar.txt http://localhost:3000/api/hello'])
    expect(JSON.parse(later)).toMatchObject({ status: 401, code: 'token_revoked' })
  })
})

describe('a WebSocket as in the guide', () => {
  test.each([
    ['guides/websockets', 'node:http, node:https and Fastify', 'js'],
    ['guides/websockets', 'Other frameworks', 'js'],
  ] as const)('%s, %s, opens for a signed-in user only', async (name, heading, language) => {
    const running = await start(codeBelow(page(name), heading, language))
    const client = await signUp(running)
    const cookie = client.cookies
      .all()
      .map(({ name: key, value }) => `${key}=${value}`)
      .join('; ')
    const url = `${running.url.replace('http', 'ws')}/api/live`
    const greeting = (headers: Record<string, string>) =>
      new Promise((resolve, reject) => {
        const socket = new WebSocket(url, { headers: { origin: running.url, ...headers } })
        socket.once('message', (data) => resolve(String(data))).once('error', reject)
        onTestFinished(() => socket.terminate())
      })
    await expect(greeting({})).rejects.toThrow('401')
    expect(await greeting({ cookie })).toBe(`Hello ${account.email}`)
  })
})

describe('the guide to Next.js', () => {
  const guide = page('guides/frameworks/nextjs')
  const files = {
    'lib/auth.ts': codeBelow(page('guides/frameworks/nextjs'), 'Create auth once', 'ts'),
    'app/auth/[...path]/route.ts': codeBelow(page('guides/frameworks/nextjs'), 'Serve the auth routes', 'ts'),
    'app/api/hello/route.ts': codeBelow(page('guides/frameworks/nextjs'), 'Guard your API', 'ts'),
    'lib/principal.ts': codeBelow(page('guides/frameworks/nextjs'), 'Read the principal in a Server Component', 'ts'),
  }
  const example = join(root, 'examples/nextjs')
  /** `next/headers` as a request's rendering has it. */
  const headersOfRequest = {
    'node_modules/next/package.json': '{ "name": "next", "exports": { "./headers": "./headers.js" } }',
    'node_modules/next/headers.js': 'export const headers = async () => globalThis.headersOfRequest',
    'node_modules/next/headers.d.ts': 'export function headers(): Promise<Headers>',
  }
  const drive = `
    import * as authRoutes from './app/auth/[...path]/route'
    import { GET } from './app/api/hello/route'
    import { auth } from './lib/auth'
    import { currentPrincipal } from './lib/principal'

    await auth.users.create({ email: 'ada@example.com', password: 'a difference engine of brass', emailVerified: true })
    const base = 'http://localhost:3000'
    const headers = { 'content-type': 'application/json', origin: base }
    const body = JSON.stringify({ email: 'ada@example.com', password: 'a difference engine of brass' })
    const signedIn = await authRoutes.POST(new Request(base + '/auth/login', { method: 'POST', headers, body }))
    const cookie = signedIn.headers.getSetCookie().map((line) => line.split(';')[0]).join('; ')
    const hello = async (sent) => (await GET(new Request(base + '/api/hello', { headers: sent }))).text()
    const seen = async (sent) => {
      globalThis.headersOfRequest = new Headers(sent)
      return (await currentPrincipal())?.email ?? null
    }
    const page = await authRoutes.GET(new Request(base + '/auth/login'))
    console.log(JSON.stringify([signedIn.status, page.status, await hello({ cookie }), await seen({ cookie }), await seen({})]))
    console.log((await GET(new Request(base + '/api/hello'))).status)
    await auth.close()`

  async function folderOfPages(): Promise<string> {
    const folder = await applicationFolder(...types)
    await writeFiles(folder, { ...files, ...headersOfRequest, 'drive.js': drive })
    return folder
  }

  test('has files that name themselves in their first line', () => {
    for (const [name, text] of Object.entries(files)) expect(text.split('\n')[0], guide).toBe(`// ${name}`)
  })

  test('shows the files of the example, and all of them', async () => {
    const shown = await readFile(guide, 'utf8')
    const names = await readdir(example, { recursive: true, withFileTypes: true })
    const paths = names.filter((entry) => entry.isFile()).map(({ parentPath, name }) => join(parentPath, name))
    expect(paths.length).toBeGreaterThan(Object.keys(files).length)
    for (const path of paths) expect(shown, path).toContain(`\n${await readFile(path, 'utf8')}\`\`\`\n`)
  })

  test('serves the auth routes, guards a route handler and reads the principal while rendering', async () => {
    const folder = await folderOfPages()
    await build({
      entryPoints: [join(folder, 'drive.js')],
      outfile: join(folder, 'bundle.js'),
      bundle: true,
      platform: 'node',
      format: 'esm',
      packages: 'external',
    })
    const env = {
      ...process.env,
      ...secretsForEnvironment(),
      BASE_URL: 'http://localhost:3000',
      DATABASE_URL: 'sqlite::memory:',
      MAIL_URL: 'smtp://127.0.0.1:9',
    }
    const { stdout } = await run('node', ['--import', noNetwork, 'bundle.js'], { cwd: folder, env })
    const [answers = '', status] = stdout.trim().split('\n')
    const hello = JSON.stringify({ hello: account.email })
    expect([JSON.parse(answers), status]).toEqual([[200, 200, hello, account.email, null], '401'])
  })

  test('compiles under strict TypeScript', async () => {
    const folder = await folderOfPages()
    expect(strictFaults(folder, Object.keys(files), bundler)).toEqual([])
  })
})

test('the guide to React renders for signed-in and signed-out visitors, and nothing while that is unknown', async () => {
  const folder = await applicationFolder('react', 'react-dom')
  const drive = `
    import { createElement } from 'react'
    import { renderToString } from 'react-dom/server'
    import { App } from './App.jsx'
    const user = { email: 'ada@example.com', roles: ['ADMIN'] }
    const sessions = [null, { user, session: { id: '1', expiresAt: '2100-01-01' } }, undefined]
    console.log(JSON.stringify(sessions.map((session) => renderToString(createElement(App, { session })))))`
  const App = codeBelow(page('guides/react'), 'Show the signed-in user', 'jsx')
  await writeFiles(folder, { 'App.jsx': App, 'drive.js': drive })
  const [entry, bundle] = [join(folder, 'drive.js'), join(folder, 'bundle.js')]
  const options = { bundle: true, platform: 'node', format: 'esm', packages: 'external', jsx: 'automatic' } as const
  await build({ entryPoints: [entry], outfile: bundle, ...options })
  const [signedOut, signedIn, unknown] = JSON.parse((await run('node', ['bundle.js'], { cwd: folder })).stdout)
  const link = '<a href="/auth/login?redirect=/">Sign in</a>'
  expect(signedOut).toBe(`${link}<p>This part is for administrators.</p>`)
  expect(signedIn).toBe('<button>Sign out <!-- -->ada@example.com</button><a href="/reports">Reports</a>')
  expect(unknown).toBe('')
})

test('the guide to testing signs in with a provider that the peer plays', async () => {
  const code = codeBelow(page('guides/testing'), 'Test sign-in with a provider', 'ts')
  const folder = await applicationFolder()
  await writeFile(join(folder, 'kit.js'), `${code}\nconsole.log(response.status)\nawait auth.close()\n`)
  expect((await run('node', ['kit.js'], { cwd: folder })).stdout).toBe('200\n')
})
