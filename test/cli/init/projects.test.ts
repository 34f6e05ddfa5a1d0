import { execFile } from 'node:child_process'
import { readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { build } from 'esbuild'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { planInit } from '../../../src/cli/init/plan.js'
import { openProject } from '../../../src/cli/init/project.js'
import { writeChanges } from '../../../src/cli/init/write-changes.js'
import { newSecret } from '../../../src/lib/random.js'
import { createTestClient } from '../../../src/testing.js'
import { applicationFolder, compileProject, projectFaults, writeFiles } from '../../support/application-folder.js'
import { codeInMailbox, mainJob } from '../../support/journey.js'
import { freePort, type Program, startProgram } from '../../support/program.js'
import { openDesk } from '../../support/tool.js'

// Starting programs takes a busy machine its time.
vi.setConfig({ testTimeout: 180_000 })

const run = promisify(execFile)
const noNetwork = new URL('../../support/no-network.js', import.meta.url).href
const packagesFolder = fileURLToPath(new URL('../../../node_modules', import.meta.url))
const runsTypeScript = Number(process.versions.node.split('.')[0]) >= 24
const packages = ['express', 'fastify', 'hono', '@hono/node-server', 'typescript', '@types/node', '@types/express']

/** Compiles to a folder, or leaves that to the program that runs the sources. */
const compilers = {
  emits: {
    module: 'nodenext',
    target: 'es2023',
    strict: true,
    types: ['node'],
    skipLibCheck: true,
    outDir: 'dist',
    rootDir: '.',
  },
  emitsBelowSrc: {
    module: 'nodenext',
    target: 'es2023',
    strict: true,
    types: ['node'],
    skipLibCheck: true,
    outDir: 'dist',
    rootDir: 'src',
  },
  /** For Node itself, which imports TypeScript files by `.ts`. */
  runByNode: {
    module: 'nodenext',
    target: 'es2023',
    strict: true,
    types: ['node'],
    skipLibCheck: true,
    noEmit: true,
    allowImportingTsExtensions: true,
    erasableSyntaxOnly: true,
  },
  emitsNothing: {
    module: 'esnext',
    moduleResolution: 'bundler',
    target: 'es2023',
    strict: true,
    skipLibCheck: true,
    noEmit: true,
  },
}
type Compiler = keyof typeof compilers

interface ProjectFiles {
  type?: 'module' | 'commonjs'
  dependencies?: readonly string[]
  compiler?: Compiler
  files?: Readonly<Record<string, string>>
}

/** A folder with a package.json, the packages that it names, and nothing else. */
async function project({ type, dependencies = [], compiler, files = {} }: ProjectFiles): Promise<string> {
  const folder = await applicationFolder(...packages)
  const names = [
    'latchkey',
    'better-sqlite3',
    ...dependencies,
    ...(compiler ? ['typescript', '@types/node', '@types/express'] : []),
  ]
  const manifest = { name: 'app', type, dependencies: Object.fromEntries(names.map((name) => [name, '*'])) }
  const tsconfig = { compilerOptions: compiler && compilers[compiler] }
  await writeFiles(folder, {
    'package.json': JSON.stringify(manifest),
    ...(compiler && { 'tsconfig.json': JSON.stringify(tsconfig) }),
    ...files,
  })
  return folder
}

/** Runs `latchkey` of the package in the folder. */
async function latchkey(folder: string, ...args: readonly string[]) {
  const tool = join(folder, 'node_modules/latchkey/dist/cli.js')
  return run('node', [tool, ...args], { cwd: folder }).then(
    ({ stdout, stderr }) => ({ code: 0, stdout, stderr }),
    ({ code, stdout, stderr }) => ({ code, stdout, stderr }),
  )
}

/** Type-checks and starts the application as its developer does. */
async function start(
  folder: string,
  entry: string,
  compiler: Compiler | null,
  env: Record<string, string>,
): Promise<Program> {
  const file = compiler === null ? entry : await compiled(folder, entry, compiler)
  const program = startProgram('node', ['--import', noNetwork, file], { cwd: folder, env })
  onTestFinished(() => program.stop())
  return program
}

async function compiled(folder: string, entry: string, compiler: Compiler): Promise<string> {
  expect(compileProject(folder)).toEqual([])
  if (compiler === 'emits' || compiler === 'emitsBelowSrc')
    return `dist/${entry.replace(/^src\//, '').replace(/ts$/, 'js')}`
  if (runsTypeScript) return entry // Node, as the steps of `init` say.
  // As tsx would run it.
  const outfile = 'bundle.mjs'
  const bundled = { bundle: true, platform: 'node', format: 'esm', packages: 'external' } as const
  await build({ entryPoints: [join(folder, entry)], outfile: join(folder, outfile), ...bundled })
  return outfile
}

const frameworks = {
  Express: ['express'],
  Fastify: ['fastify'],
  Hono: ['hono', '@hono/node-server'],
  'node:http': [],
}
const languages = [
  ['JavaScript modules', { type: 'module' }, 'index.js'],
  ['CommonJS', { type: 'commonjs' }, 'index.js'],
  ['TypeScript', { type: 'module', compiler: 'emits' }, 'index.ts'],
] as const
const furtherLanguages = [
  ['a package.json without a type', {}, 'index.js'],
  ['TypeScript below src', { type: 'module', compiler: 'emitsBelowSrc' }, 'src/index.ts'],
  ['TypeScript that another program runs', { type: 'module', compiler: 'emitsNothing' }, 'index.ts'],
  ['TypeScript that Node runs', { type: 'module', compiler: 'runByNode' }, 'index.ts'],
] as const
const kinds = [
  ...Object.entries(frameworks).flatMap(([name, dependencies]) =>
    languages.map(([language, kind, entry]) => [`${name}, ${language}`, { ...kind, dependencies }, entry] as const),
  ),
  ...furtherLanguages.map(
    ([language, kind, entry]) => [`Express, ${language}`, { ...kind, dependencies: ['express'] }, entry] as const,
  ),
  ['node:http, TypeScript that another program runs', { type: 'module', compiler: 'emitsNothing' }, 'index.ts'],
] as const

describe('a project without code becomes a protected API with a mailed sign-in', () => {
  test.each(kinds)('%s', async (_name, kind: ProjectFiles, entry) => {
    const folder = await project(kind)
    const { code, stdout } = await latchkey(folder, 'init', '--yes')
    expect([code, stdout.split('\n')[0]]).toEqual([0, expect.stringMatching(/^1\. Start the application: /)])
    expect((await stat(join(folder, '.env'))).mode & 0o777).toBe(0o600)

    const port = await freePort()
    const url = `http://localhost:${port}`
    const program = await start(folder, entry, kind.compiler ?? null, { PORT: String(port), APP_URL: url })
    await mainJob(program, url, '/api/hello')
    expect(await latchkey(folder, 'init', '--yes')).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('already'),
    })
  })
})

describe.each(Object.entries(frameworks))('%s in TypeScript compiles', (_name, dependencies) => {
  /** What `tsc --init` of TypeScript 6 writes. */
  const strictest = {
    module: 'nodenext',
    target: 'esnext',
    types: [],
    sourceMap: true,
    declaration: true,
    noUncheckedIndexedAccess: true,
    exactOptionalPropertyTypes: true,
    strict: true,
    verbatimModuleSyntax: true,
    isolatedModules: true,
    noUncheckedSideEffectImports: true,
    moduleDetection: 'force',
    skipLibCheck: true,
  }

  test.each([
    ['as tsc --init configures it', 'module', strictest, '22.20.0'],
    ['with the settings in JavaScript', 'module', strictest, '20.20.0'],
    ['in CommonJS', 'commonjs', { ...strictest, verbatimModuleSyntax: false }, '22.20.0'],
    ['with imports by .ts', 'module', { ...strictest, noEmit: true, allowImportingTsExtensions: true }, '24.1.0'],
    ['for a bundler', 'module', { ...strictest, module: 'esnext', moduleResolution: 'bundler' }, '22.20.0'],
  ] as const)('%s', async (_kind, type, compilerOptions, nodeVersion) => {
    const folder = await project({ type, dependencies: [...dependencies, 'typescript'] })
    await writeFiles(folder, { 'tsconfig.json': JSON.stringify({ compilerOptions }) })
    const plan = planInit(openProject(folder), { nodeVersion, createSecret: newSecret })
    if (plan.outcome !== 'ready') throw new Error(plan.sentence)
    writeChanges(folder, plan.changes)
    expect(projectFaults(folder)).toEqual([])
  })
})

const existing = [
  [
    'Express in CommonJS',
    { type: 'commonjs', dependencies: ['express'] },
    'server.js',
    `'use strict';\r\nconst express = require('express'),\r\n  path = require('path');\r\n\r\nconst app = express();\r\napp.set('strict routing', true);\r\napp.get('/api/notes', (req, res) => res.json([req.auth.email, path.sep]));\r\napp.listen(PORT);\r\n`,
  ],
  [
    'Express in TypeScript',
    { type: 'module', dependencies: ['express'], compiler: 'emitsBelowSrc' },
    'src/server.ts',
    `import express, { type Express } from "express";\n\nconst app: Express = express();\napp.get("/api/notes", (req, res) => {\n  res.json([req.auth?.kind]);\n});\napp.listen(PORT);\n`,
  ],
  [
    'Fastify in a function',
    { type: 'module', dependencies: ['fastify'] },
    'app.js',
    `import Fastify from 'fastify'\n\nasync function main() {\n\tconst server = Fastify({\n\t\tlogger: false, // const app = Fastify()\n\t})\n\tserver.get('/api/notes', async () => [])\n\tawait server.listen({ port: PORT })\n}\n\nawait main()\n`,
  ],
  [
    'Fastify as its guide shows it',
    { dependencies: ['fastify'] },
    'server.js',
    `const fastify = require('fastify')({ logger: false })\n\nfastify.get('/api/notes', async () => [])\nfastify.listen({ port: PORT })\n`,
  ],
  [
    'Hono with routers',
    { type: 'module', dependencies: ['hono', '@hono/node-server'] },
    'src/index.js',
    `import { serve } from '@hono/node-server'\nimport { Hono } from 'hono'\n\nconst notes = new Hono()\nnotes.get('/', (c) => c.json([]))\n\nconst app = new Hono()\napp.route('/api/notes', notes)\n\nserve({ fetch: app.fetch, port: PORT })\n`,
  ],
  [
    'Hono in TypeScript',
    { type: 'module', dependencies: ['hono', '@hono/node-server'], compiler: 'emitsNothing' },
    'src/index.ts',
    `import { serve } from '@hono/node-server'\nimport { Hono } from 'hono'\n\nconst app = new Hono<{ Variables: { user: string } }>()\napp.get('/api/notes', (c) => c.json([c.get('user')]))\n\nserve({ fetch: app.fetch, port: PORT })\n`,
  ],
  [
    'node:http',
    { type: 'module' },
    'main.mjs',
    `import http from 'node:http'\n\nconst server = http.createServer((req, res) => {\n  res.end(\`\${req.url} const server = createServer()\`)\n})\n\nserver.listen(PORT)\n`,
  ],
  [
    'node:http in TypeScript',
    { type: 'module', compiler: 'emits' },
    'server.ts',
    `import { createServer, type IncomingMessage } from 'node:http'\n\nexport const server = createServer((req: IncomingMessage, res) => {\n  res.end(req.url)\n})\n\nserver.listen(PORT)\n`,
  ],
] as const

test.each(existing)('%s gets three lines, and its API is protected', async (_name, kind: ProjectFiles, entry, code) => {
  const port = await freePort()
  const text = code.replaceAll('PORT', String(port))
  const folder = await project({ ...kind, files: { [entry]: text, '.gitignore': 'node_modules\r\n' } })
  expect(await latchkey(folder, 'init', '--yes')).toMatchObject({ code: 0 })
  const program = await start(folder, entry, kind.compiler ?? null, {})
  await mainJob(program, `http://localhost:${port}`, '/api/notes')
})

test('Express 4 in CommonJS becomes a protected API', async () => {
  const folder = await project({ dependencies: ['express'] })
  await rm(join(folder, 'node_modules/express'))
  await symlink(join(packagesFolder, 'express4'), join(folder, 'node_modules/express'))
  expect(await latchkey(folder, 'init', '--yes')).toMatchObject({ code: 0 })
  const port = await freePort()
  const url = `http://localhost:${port}`
  const program = await start(folder, 'index.js', null, { PORT: String(port), APP_URL: url })
  await mainJob(program, url, '/api/hello')
})

test('the started application leads a browser from the guarded page to the mailed code, and back', async () => {
  const folder = await project({ type: 'module', dependencies: ['express'] })
  await latchkey(folder, 'init', '--yes')
  const port = await freePort()
  const url = `http://localhost:${port}`
  const program = await start(folder, 'index.js', null, { PORT: String(port), APP_URL: url })
  await program.printed(/Open http/)
  const client = createTestClient(url)
  const account = { email: 'ada@example.com', password: 'a difference engine of brass' }
  expect((await client.open('/api/hello')).url.pathname).toBe('/auth/login')
  await client.submit('/auth/register', { ...account, _redirect: '/api/hello' })
  const code = await codeInMailbox(program, account.email)
  const back = await client.submit('/auth/verify-email', { code, _redirect: '/api/hello' })
  expect([back.url.pathname, back.status, back.body]).toEqual(['/api/hello', 200, { hello: account.email }])
})

test('without .env, and without the variables, the application says which settings are missing', async () => {
  const folder = await project({ type: 'module', dependencies: ['express'] })
  await latchkey(folder, 'init', '--yes')
  await rm(join(folder, '.env'))
  await expect(run('node', ['index.js'], { cwd: folder })).rejects.toMatchObject({
    stderr: expect.stringMatching(/baseUrl[\s\S]*JWT_ACCESS_TOKEN_SECRET|JWT_ACCESS_TOKEN_SECRET[\s\S]*baseUrl/),
  })
})

describe('latchkey init', () => {
  test('without a terminal and without --yes names the option, and writes nothing', async () => {
    const folder = await project({ type: 'module', dependencies: ['express'] })
    const { code, stderr } = await latchkey(folder, 'init')
    expect([code, stderr]).toEqual([2, expect.stringContaining('--yes')])
    await expect(stat(join(folder, '.env'))).rejects.toThrow('ENOENT')
  })

  test('asks on a terminal, and writes nothing after a no', async () => {
    const desk = await openDesk()
    await writeFiles(desk.folder, { 'package.json': '{ "dependencies": { "express": "*" } }' })
    const { code, screen } = await desk.type(['init'], [['Write these 4 files?', 'n']])
    expect([code, screen]).toEqual([1, expect.stringContaining('+ const app = express()')])
    expect(await readdir(desk.folder)).toEqual(['package.json'])
    expect((await desk.type(['init'], [['Write these 4 files?', 'y']])).code).toBe(0)
    expect(await readdir(desk.folder)).toContain('latchkey.config.js')
  })

  test('in a folder without package.json says so', async () => {
    const folder = await project({})
    await rm(join(folder, 'package.json'))
    expect(await latchkey(folder, 'init', '--yes')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('no package.json in this folder'),
    })
  })

  test('prints the lines to paste where it cannot find the place, writes the rest, and never shows a secret', async () => {
    const folder = await project({ type: 'module', dependencies: ['express'] })
    await writeFile(
      join(folder, 'server.js'),
      "import express from 'express'\nexport default express().disable('etag')\n",
    )
    const { code, stdout, stderr } = await latchkey(folder, 'init', '--yes')
    expect([code, stdout]).toEqual([6, expect.stringContaining("import { settings } from './latchkey.config.js'")])
    const secret = /SECRET=(.+)/.exec(await readFile(join(folder, '.env'), 'utf8'))?.[1] ?? ''
    expect(secret.length).toBeGreaterThan(60)
    expect(stdout + stderr).not.toContain(secret)
    const again = await latchkey(folder, 'init', '--yes', '--json')
    expect([again.code, JSON.parse(again.stdout)]).toMatchObject([6, { written: [] }])
  })
})
