import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, onTestFinished, test } from 'vitest'
import { temporaryFolder } from '../support/auth.js'
import { mainJob } from '../support/journey.js'
import { freePort, startProgram } from '../support/program.js'
import { createDatabase } from '../support/servers.js'

const folder = fileURLToPath(new URL('.', import.meta.url))

/** `npm run test:runtimes` puts both on PATH. */
const commands = { bun: [], deno: ['run', '--allow-all', '--no-lock'] } as const

const programs = [
  ['bun', 'Bun.serve', 'fetch.js'],
  ['bun', 'Hono on Bun.serve', 'hono.js'],
  ['bun', 'Express on Bun', 'express.js'],
  ['deno', 'Deno.serve', 'fetch.js'],
  ['deno', 'Hono on Deno.serve', 'hono.js'],
  ['deno', 'Express on Deno', 'express.js'],
] as const

const databases = {
  SQLite: async () => `sqlite:${join(temporaryFolder(), 'accounts.db')}`,
  async PostgreSQL() {
    const database = await createDatabase('postgres')
    onTestFinished(() => database.close())
    return database.url
  },
} as const

describe.each(programs)('%s: %s', (command, _title, file) => {
  test.each(Object.entries(databases))(
    'serves the main job on %s, and closes',
    async (_name, createUrl) => {
      const port = await freePort()
      const secret = () => randomBytes(32).toString('base64')
      const env = {
        PORT: String(port),
        DATABASE: await createUrl(),
        JWT_ACCESS_TOKEN_SECRET: secret(),
        JWT_REFRESH_TOKEN_SECRET: secret(),
      }
      const program = startProgram(command, [...commands[command], file], { cwd: folder, env })
      onTestFinished(() => program.stop())
      await program.printed(command === 'bun' ? /running on Bun \d/ : /running on Deno \d/)
      await mainJob(program, `http://localhost:${port}`, '/api/hello')
      await program.stop()
      await program.printed(/^closed$/m)
    },
    120_000,
  )
})
