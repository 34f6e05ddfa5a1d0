import { mkdtemp, readdir, readFile, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { mainJob } from './support/journey.js'
import { freePort, startProgram } from './support/program.js'

const examples = fileURLToPath(new URL('../examples', import.meta.url))
const secrets = ['JWT_ACCESS_TOKEN_SECRET', 'JWT_REFRESH_TOKEN_SECRET']
let folder: string

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'latchkey-examples-'))
})

afterAll(() => rm(folder, { recursive: true, force: true }))

test('every example starts on one screen: at most 40 lines', async () => {
  const names = await readdir(examples)
  expect(names.length).toBeGreaterThan(0)
  for (const name of names) {
    const lines = (await readFile(join(examples, name, 'index.js'), 'utf8')).trimEnd().split('\n')
    expect(lines.length, name).toBeLessThanOrEqual(40)
  }
})

describe('express', () => {
  test('serves the main job, and after a restart again with the same secrets', async () => {
    const first = await run()
    const second = await run()
    expect(second).toEqual(first)
    expect(new Set(first).size).toBe(2)
  })

  test('keeps the secrets that it made to its owner', async () => {
    for (const name of secrets) expect((await stat(join(folder, name))).mode & 0o777).toBe(0o600)
  })

  async function run(): Promise<string[]> {
    const port = await freePort()
    const env = { PORT: String(port), DATA_FOLDER: folder }
    const program = startProgram('node', ['express/index.js'], { cwd: examples, env })
    try {
      await program.printed(/Open http/)
      await mainJob(program, `http://localhost:${port}`, '/api/notes')
    } finally {
      await program.stop()
    }
    return Promise.all(secrets.map((name) => readFile(join(folder, name), 'utf8')))
  }
})
