import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { packageVersion } from '../../../src/lib/optional-package.js'
import { judgeNode, optionalPackages, supportedNode } from '../../../src/wiring/doctor/process.js'
import { temporaryFolder } from '../../support/auth.js'
import { diagnosed } from '../../support/doctor.js'

const { engines, peerDependencies } = JSON.parse(readFileSync('package.json', 'utf8'))

test('the supported versions are those of package.json', () => {
  expect(supportedNode).toBe(engines.node)
  expect(peerDependencies).toMatchObject(optionalPackages)
})

test.each([
  ['20.18.3', '2026-01-01', 'Node 20.18.3 runs here. Latchkey supports ^20.19 || >=22.12.'],
  ['22.11.0', '2026-01-01', 'Node 22.11.0 runs here. Latchkey supports ^20.19 || >=22.12.'],
  ['20.20.2', '2026-05-01', 'Node 20.20.2 runs here. Its last security fixes came out on 2026-04-30.'],
  ['23.4.0', '2025-07-01', 'Node 23.4.0 runs here. Its last security fixes came out on 2025-06-01.'],
])('Node %s on %s is a finding', (node, day, finding) => {
  expect(judgeNode({ node }, Date.parse(day))).toEqual({ finding })
})

test('a version of Node that is supported or not known yet is fine, another runtime is skipped', () => {
  expect(judgeNode({ node: '20.20.2' }, Date.parse('2026-04-01'))).toBeNull()
  expect(judgeNode({ node: '24.1.0' }, Date.parse('2026-04-01'))).toBeNull()
  expect(judgeNode({ node: '40.0.0' }, Date.parse('2040-01-01'))).toBeNull()
  expect(judgeNode({ node: '22.12.0', bun: '1.4.5' }, 0)).toEqual({ skipped: 'This runtime is not Node.' })
})

test('a package of an unsupported version is found, with the line that installs a good one', async () => {
  const folder = temporaryFolder()
  const installed = join(folder, 'node_modules', 'ioredis')
  mkdirSync(join(installed, 'built'), { recursive: true })
  writeFileSync(join(installed, 'package.json'), '{ "name": "ioredis", "version": "4.28.5", "main": "built/index.js" }')
  writeFileSync(join(installed, 'built', 'index.js'), '')
  const { resolve } = createRequire(join(folder, 'app.js'))

  const context = {
    installedVersion: (name: string) => packageVersion(name, name === 'ioredis' ? resolve : undefined),
  }
  expect(await diagnosed('package_missing', { settings: { redis: 'redis://127.0.0.1:1' }, context })).toMatchObject([
    {
      ok: false,
      level: 'error',
      finding: 'redis needs ioredis ^5.4.2 || ^6, but version 4.28.5 is installed.',
      cure: 'npm install "ioredis@^6"',
    },
  ])
})

test('a package that is not there is found', async () => {
  const { resolve } = createRequire(join(temporaryFolder(), 'app.js'))
  const context = { installedVersion: (name: string) => packageVersion(name, resolve) }
  const settings = { password: { algorithm: 'argon2id' as const } }
  expect(await diagnosed('package_missing', { settings, context })).toMatchObject([
    { ok: false, finding: expect.stringContaining('@node-rs/argon2 ^2, which cannot be found') },
    ...(process.versions.node.startsWith('20.')
      ? [{ ok: false, finding: expect.stringContaining('better-sqlite3') }]
      : []),
  ])
})

test('the packages of this machine are fine', async () => {
  const settings = { password: { algorithm: 'argon2id' as const }, redis: 'redis://127.0.0.1:1' }
  expect(await diagnosed('package_missing', { settings })).toMatchObject([{ ok: true, skipped: null }])
})
