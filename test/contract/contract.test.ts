import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { contract } from '../../src/contract/contract.js'
import type { Operation } from '../../src/contract/operation.js'
import { controlPath } from '../../src/model/control-path.js'
import { controlRoutes } from '../../src/routes/admin/index.js'

const root = fileURLToPath(new URL('../..', import.meta.url))
const operations: readonly Operation[] = Object.values(contract).flatMap((noun) => Object.values<Operation>(noun))

test('the table of the tool is the one that the build writes from the contract', () => {
  const file = join(mkdtempSync(join(tmpdir(), 'contract-')), 'table.ts')
  execFileSync(process.execPath, ['.ci/build-contract.js', file], { cwd: root })
  const table = readFileSync(join(root, 'src/cli/remote/contract-table.ts'), 'utf8')
  expect(table, 'Run: npm run generate').toBe(readFileSync(file, 'utf8'))
  expect(table, 'the detail of an audit event').toContain('"detail":{"map":"fact"}')
})

test('every route of an application is an operation of the contract', () => {
  const described = operations.map(({ method, path }) => `${method} ${controlPath}${path}`)
  const routes = controlRoutes.map(({ method, path }) => `${method} ${path}`)
  expect(routes.length).toBeGreaterThan(20)
  expect(routes.filter((route) => !described.includes(route))).toEqual([`GET ${controlPath}/openapi.json`])
})
