import { describe, expect, test } from 'vitest'
import { nextSteps } from '../../../src/cli/init/next-steps.js'
import { type Conditions, planInit, type ReadyPlan } from '../../../src/cli/init/plan.js'
import type { Project } from '../../../src/cli/init/project.js'
import { conditions, projectOf } from '../../support/project-folder.js'

const manifest = (more: object = {}) => JSON.stringify({ name: 'app', ...more })
const module = (...names: readonly string[]) => manifest({ type: 'module', dependencies: dependenciesOf(names) })
const dependenciesOf = (names: readonly string[]) => Object.fromEntries(names.map((name) => [name, '*']))
const tsconfig = (compilerOptions: object = {}, more: object = {}) => JSON.stringify({ compilerOptions, ...more })

function ready(project: Project, on: Conditions = conditions): ReadyPlan {
  const plan = planInit(project, on)
  if (plan.outcome !== 'ready') throw new Error(`${plan.outcome}: ${plan.sentence}`)
  return plan
}

/** The texts after the plan, by path. */
function written(project: Project, on?: Conditions): Record<string, string> {
  return Object.fromEntries(ready(project, on).changes.map(({ path, after }) => [path, after]))
}

describe('an empty project', () => {
  test.each([
    [module('express'), 'index.js', "import express from 'express'"],
    [manifest({ dependencies: { fastify: '^5' } }), 'index.js', "const Fastify = require('fastify')"],
    [manifest({ type: 'module', main: './src/app.js', dependencies: { hono: '4' } }), 'src/app.js', 'new Hono()'],
    [manifest({ main: 'server.mjs' }), 'server.mjs', "import { createServer } from 'node:http'"],
    [manifest({ type: 'module', main: 'dist/index.js' }), 'index.js', "import { createServer } from 'node:http'"],
    [manifest({ type: 'module', main: '../index.js' }), 'index.js', "import { createServer } from 'node:http'"],
  ])('%s gets the file %s', (text, path, line) => {
    const files = written(projectOf({ 'package.json': text }))
    expect(Object.keys(files)).toEqual(['latchkey.config.js', path, '.env', '.gitignore'])
    expect(files[path]).toContain(line)
  })

  test('keeps tests and configuration that are there, and is empty all the same', () => {
    const files = { 'package.json': module('express'), 'vitest.config.js': '', 'test/app.test.js': '' }
    expect(written(projectOf(files))).toHaveProperty(['index.js'])
  })

  test('gets no file outside of its folder', () => {
    const files = { 'package.json': module('express'), 'tsconfig.json': tsconfig({ rootDir: '../src' }) }
    expect(Object.keys(written(projectOf(files)))).toContain('index.ts')
  })

  test('whose main file is no text gets no other text in its place', () => {
    const project = projectOf(
      { 'package.json': module('express') },
      { kindOf: (path) => (path === 'index.js' ? 'file' : 'missing') },
    )
    expect(ready(project).entry).toMatchObject({ kind: 'unknown' })
  })
})

describe('.env', () => {
  test('gets the address and two fresh secrets, and is for its owner only', () => {
    const { changes } = ready(projectOf({ 'package.json': module('express') }))
    const text = 'APP_URL=http://localhost:3000\nJWT_ACCESS_TOKEN_SECRET=fresh\nJWT_REFRESH_TOKEN_SECRET=fresh\n'
    expect(changes).toContainEqual({ path: '.env', before: null, after: text, isSecret: true })
  })

  test.each([
    ['A=1', 'A=1\nAPP_URL=http://localhost:3000\nJWT_ACCESS_TOKEN_SECRET=fresh\nJWT_REFRESH_TOKEN_SECRET=fresh\n'],
    [
      'A=1\r\nexport JWT_ACCESS_TOKEN_SECRET = "kept" # mine\r\n',
      'A=1\r\nexport JWT_ACCESS_TOKEN_SECRET = "kept" # mine\r\nAPP_URL=http://localhost:3000\r\nJWT_REFRESH_TOKEN_SECRET=fresh\r\n',
    ],
    [
      'PORT=4000\n#JWT_ACCESS_TOKEN_SECRET=old\n',
      'PORT=4000\n#JWT_ACCESS_TOKEN_SECRET=old\nAPP_URL=http://localhost:4000\nJWT_ACCESS_TOKEN_SECRET=fresh\nJWT_REFRESH_TOKEN_SECRET=fresh\n',
    ],
  ])('%j keeps its lines and their ends', (before, after) => {
    expect(written(projectOf({ 'package.json': module(), '.env': before }))['.env']).toBe(after)
  })

  test('with all variables stays as it is, and the steps name those that are empty', () => {
    const env = 'APP_URL=https://api.example.org\nJWT_ACCESS_TOKEN_SECRET=\nJWT_REFRESH_TOKEN_SECRET=""\n'
    const plan = ready(projectOf({ 'package.json': module(), '.env': env }))
    expect(plan.changes.map(({ path }) => path)).not.toContain('.env')
    const steps = nextSteps(plan, '22.20.0').join('\n')
    expect(steps).toContain('Give JWT_ACCESS_TOKEN_SECRET, JWT_REFRESH_TOKEN_SECRET a value in .env.')
    expect(steps).toContain('https://api.example.org/api/hello')
  })

  test('that is a link is left alone, and so is everything else', () => {
    const project = projectOf(
      { 'package.json': module() },
      { kindOf: (path) => (path === '.env' ? 'other' : 'missing') },
    )
    const sentence = expect.stringContaining('.env is a link')
    expect(planInit(project, conditions)).toEqual({ outcome: 'refused', exitCode: 1, sentence })
  })

  test('that is no UTF-8 is left alone', () => {
    const project = projectOf(
      { 'package.json': module() },
      { kindOf: (path) => (path === '.env' ? 'file' : 'missing') },
    )
    expect(planInit(project, conditions)).toMatchObject({ outcome: 'refused', exitCode: 1 })
  })
})

describe('.gitignore', () => {
  const both = '.env\nlatchkey.db*\n'
  test.each([
    ['', both],
    ['node_modules', `node_modules\n${both}`],
    ['dist\r\n', 'dist\r\n.env\r\nlatchkey.db*\r\n'],
    ['.env*\n', '.env*\nlatchkey.db*\n'],
    ['/.env\n*.db*\n', null],
    ['.env\nlatchkey.db*\n!.env\n', '.env\nlatchkey.db*\n!.env\n.env\n'],
    ['.env.local\n', `.env.local\n${both}`],
  ])('%j becomes %j', (before, after) => {
    const { changes } = ready(projectOf({ 'package.json': module(), '.gitignore': before }))
    expect(changes.find(({ path }) => path === '.gitignore')?.after ?? null).toBe(after)
  })
})

describe('the settings module', () => {
  const app = "import express from 'express'\n\nconst app = express()\n"
  const imported = (path: string) =>
    `import express from 'express'\nimport { init } from 'latchkey'\nimport { settings } from '${path}'\n\nconst app = express()\ninit(app, settings)\n`

  test.each([
    [
      'no tsconfig.json on a Node that runs TypeScript',
      {},
      'index.ts',
      '22.20.0',
      './latchkey.config.ts',
      ['latchkey.config.ts'],
    ],
    [
      'no tsconfig.json on another Node',
      {},
      'index.ts',
      '22.17.1',
      './latchkey.config.js',
      ['latchkey.config.js', 'latchkey.config.d.ts'],
    ],
    [
      'noEmit',
      { 'tsconfig.json': tsconfig({ noEmit: true, outDir: 'dist' }) },
      'src/a.ts',
      '24.1.0',
      '../latchkey.config.js',
      ['latchkey.config.js', 'latchkey.config.d.ts'],
    ],
    [
      'imports by .ts',
      { 'tsconfig.json': tsconfig({ noEmit: true, allowImportingTsExtensions: true }) },
      'src/a.ts',
      '24.1.0',
      '../latchkey.config.ts',
      ['latchkey.config.ts'],
    ],
    [
      'output of src in dist',
      { 'tsconfig.json': tsconfig({ outDir: './dist/', rootDir: './src' }) },
      'src/a.ts',
      '24.1.0',
      '../latchkey.config.js',
      ['latchkey.config.js', 'latchkey.config.d.ts'],
    ],
    [
      'output of the folder in dist',
      { 'tsconfig.json': tsconfig({ outDir: 'dist', rootDir: '.' }) },
      'src/a.ts',
      '20.20.0',
      '../latchkey.config.js',
      ['latchkey.config.ts'],
    ],
    [
      'the root of TypeScript 5',
      { 'tsconfig.json': tsconfig({ outDir: 'dist' }), 'node_modules/typescript/package.json': '{"version":"5.9.3"}' },
      'src/a.ts',
      '24.1.0',
      '../latchkey.config.js',
      ['latchkey.config.js', 'latchkey.config.d.ts'],
    ],
    [
      'the root of TypeScript 6',
      { 'tsconfig.json': tsconfig({ outDir: 'dist' }), 'node_modules/typescript/package.json': '{"version":"6.0.3"}' },
      'src/a.ts',
      '24.1.0',
      '../latchkey.config.js',
      ['latchkey.config.ts'],
    ],
    [
      'an extended configuration',
      {
        'tsconfig.json': tsconfig({ outDir: 'dist' }, { extends: ['@tsconfig/node22', './base'] }),
        'base.json': '{ // why\n "compilerOptions": { "rootDir": "src", }, }',
        'node_modules/@tsconfig/node22/tsconfig.json': tsconfig({ rootDir: '.' }),
      },
      'src/a.ts',
      '24.1.0',
      '../latchkey.config.js',
      ['latchkey.config.js', 'latchkey.config.d.ts'],
    ],
  ] as const)('with %s', (_name, files, entry, nodeVersion, path, modules) => {
    const texts = written(projectOf({ 'package.json': module('express'), ...files, [entry]: app }), {
      ...conditions,
      nodeVersion,
    })
    expect(Object.keys(texts)).toEqual([...modules, entry, '.env', '.gitignore'])
    expect(texts[entry]).toBe(imported(path))
  })

  test('is imported as the neighbours of the file are', () => {
    const text = `import { db } from './db.ts'\n${app}`
    const files = { 'package.json': module('express'), 'tsconfig.json': tsconfig({ noEmit: true }), 'index.ts': text }
    expect(written(projectOf(files))['index.ts']).toContain("from './latchkey.config.ts'")
    const emitting = tsconfig({ outDir: 'dist', rootDir: '.' })
    const other = { ...files, 'tsconfig.json': emitting, 'index.ts': text.replace('./db.ts', './db') }
    expect(written(projectOf(other))['index.ts']).toContain("from './latchkey.config'")
  })

  test.each([
    ['export const settings = {}', "import { settings } from './latchkey.config.js'"],
    ['export default {}', "import settings from './latchkey.config.js'"],
    ['const settings = {}\nexport { settings }', "import { settings } from './latchkey.config.js'"],
  ])('that is there stays: %s', (text, line) => {
    const texts = written(projectOf({ 'package.json': module('express'), 'latchkey.config.js': text, 'index.js': app }))
    expect(Object.keys(texts)).toEqual(['index.js', '.env', '.gitignore'])
    expect(texts['index.js']).toContain(line)
  })

  test.each([
    ['exports.settings = {}', "const { settings } = require('./latchkey.config.js')"],
    ['module.exports = {}', "const settings = require('./latchkey.config.js')"],
    ['export default {}', "const { default: settings } = require('./latchkey.config.js')"],
  ])('that is there is required: %s', (text, line) => {
    const index = "const express = require('express')\nconst app = express()\n"
    const files = {
      'package.json': manifest({ dependencies: { express: '5' } }),
      'latchkey.config.js': text,
      'index.js': index,
    }
    expect(written(projectOf(files))['index.js']).toContain(line)
  })
})

describe('nothing can be done', () => {
  test.each([
    ['without package.json', {}, 2, 'no package.json'],
    ['with a broken package.json', { 'package.json': '{' }, 2, 'no package.json'],
    ['for Next.js', { 'package.json': module('next') }, 1, 'nextjs.md'],
    ['for Koa', { 'package.json': module('koa') }, 1, 'Koa'],
    [
      'where TypeScript allows no import',
      {
        'package.json': manifest({ dependencies: { express: '5' } }),
        'tsconfig.json': tsconfig({ verbatimModuleSyntax: true }),
      },
      1,
      '"type": "module"',
    ],
    [
      'where compiled code would look elsewhere',
      { 'package.json': module('express'), 'tsconfig.json': tsconfig({ outDir: 'build/server', rootDir: 'src' }) },
      1,
      'different depths',
    ],
  ])('%s', (_name, files, exitCode, words) => {
    const plan = planInit(projectOf(files), conditions)
    expect(plan).toEqual({ outcome: 'refused', exitCode, sentence: expect.stringContaining(words) })
  })
})

test.each([
  "import { init } from 'latchkey'",
  "import { createAuth as create } from 'latchkey'",
  "const { init } = require('latchkey')",
])('an application that calls Latchkey already stays as it is: %s', (line) => {
  const plan = planInit(projectOf({ 'package.json': module('express'), 'lib/auth.js': line }), conditions)
  expect(plan).toEqual({ outcome: 'present', sentence: 'lib/auth.js calls Latchkey already. Nothing was changed.' })
})

test.each([
  "import type { Principal } from 'latchkey'",
  "// import { init } from 'latchkey'",
  "const text = `import { init } from 'latchkey'`",
])('an application that only names Latchkey does not call it: %s', (line) => {
  expect(planInit(projectOf({ 'package.json': module('express'), 'lib/auth.js': line }), conditions).outcome).toBe(
    'ready',
  )
})

describe('the steps that follow', () => {
  const steps = (files: Readonly<Record<string, string>>, nodeVersion = '22.20.0', more: Partial<Project> = {}) =>
    nextSteps(ready(projectOf(files, more), { ...conditions, nodeVersion }), nodeVersion)

  test('install what is missing with the package manager of the project', () => {
    const hono = { 'package.json': module('hono') }
    expect(steps(hono)[0]).toBe('1. Install what is missing: npm install latchkey @hono/node-server')
    expect(steps(hono, '20.20.0', { lockFiles: ['pnpm-lock.yaml'] })[0]).toBe(
      '1. Install what is missing: pnpm add latchkey better-sqlite3 @hono/node-server',
    )
    expect(steps(hono, '22.20.0', { lockFiles: ['yarn.lock'] }).join('\n')).toContain('yarn latchkey create-admin')
    const named = { 'package.json': manifest({ packageManager: 'bun@1.4.0' }) }
    expect(steps(named, '22.20.0', { lockFiles: ['package-lock.json'] })[0]).toContain('bun add latchkey')
  })

  test.each([
    [{ 'package.json': module('express', 'latchkey') }, '22.20.0', 'node index.js'],
    [
      { 'package.json': module('express', 'latchkey', 'typescript', '@types/node', '@types/express') },
      '22.20.0',
      'node index.ts',
    ],
    [
      { 'package.json': module('latchkey', 'better-sqlite3', 'typescript', '@types/node') },
      '20.20.0',
      'npx tsx index.ts',
    ],
    [
      {
        'package.json': module('latchkey', '@types/node'),
        'tsconfig.json': tsconfig({ outDir: 'build', rootDir: 'src' }),
      },
      '22.20.0',
      'npx tsc, then node build/index.js',
    ],
    [
      { 'package.json': manifest({ scripts: { start: 'x', dev: 'y' }, dependencies: { latchkey: '1' } }) },
      '22.20.0',
      'npm run dev',
    ],
  ])('start the application of %j on Node %s: %s', (files, nodeVersion, command) => {
    expect(steps(files, nodeVersion)[0]).toBe(`1. Start the application: ${command}`)
  })

  test('name the mailbox page, the first administrator and where to change the address', () => {
    const text = steps({ 'package.json': module('express') }).join('\n')
    for (const words of ['mailbox page', 'npx latchkey create-admin', '`baseUrl` in latchkey.config.js'])
      expect(text).toContain(words)
  })
})
