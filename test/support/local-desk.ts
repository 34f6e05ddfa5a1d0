import { once } from 'node:events'
import { writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { type Auth, init } from '../../src/index.js'
import { secretsForEnvironment } from './application-folder.js'
import { type Desk, openDesk } from './tool.js'

/** A desk with the settings module of an application in its folder, and the secrets in `.env` beside it. */
export interface LocalDesk extends Desk {
  /** Starts the application on the same database, with its tables. It ends with the test. */
  start(): Promise<RunningApplication>
}

export interface RunningApplication {
  auth: Auth
  url: string
  /** The status of a call to the guarded API. */
  call(headers?: Readonly<Record<string, string>>): Promise<number>
}

export const admin = { email: 'ann@example.org', password: 'a difference engine of brass' }

interface LocalDeskOptions {
  /** Default: an SQLite file in the folder. */
  database?: string
  /** More settings, as JavaScript. */
  more?: string
  secrets?: Readonly<Record<string, string>>
  name?: string
}

/** The settings module of an application, as `latchkey init` writes it. */
export function settingsModule(database: string, more = ''): string {
  return `export default {
  baseUrl: 'http://127.0.0.1:3000',
  JWT_ACCESS_TOKEN_SECRET: process.env.JWT_ACCESS_TOKEN_SECRET,
  JWT_REFRESH_TOKEN_SECRET: process.env.JWT_REFRESH_TOKEN_SECRET,
  admin: { emails: ['${admin.email}'] },
  password: { checkBreached: false },
  database: '${database}',
  ${more}
}
`
}

export async function openLocalDesk(options: LocalDeskOptions = {}): Promise<LocalDesk> {
  const { database = 'sqlite:./latchkey.db', more = '', secrets = secretsForEnvironment() } = options
  const { name = 'latchkey.config.mjs' } = options
  const desk = await openDesk()
  const lines = Object.entries(secrets).map(([key, value]) => `${key}=${value}\n`)
  await writeFile(join(desk.folder, '.env'), lines.join(''), { mode: 0o600 })
  await writeFile(join(desk.folder, name), settingsModule(database, more))
  const start = () => startApplication(database.replace('sqlite:./', `sqlite:${desk.folder}/`), secrets)
  return { ...desk, start }
}

async function startApplication(
  database: string,
  secrets: Readonly<Record<string, string>>,
): Promise<RunningApplication> {
  const server = createServer((_request, response) => response.end('{}'))
  const { JWT_ACCESS_TOKEN_SECRET = '', JWT_REFRESH_TOKEN_SECRET = '' } = secrets
  const auth = init(server, {
    JWT_ACCESS_TOKEN_SECRET,
    JWT_REFRESH_TOKEN_SECRET,
    baseUrl: 'http://127.0.0.1:3000',
    database,
    admin: { emails: [admin.email] },
    password: { checkBreached: false },
    logger: { warn() {}, error() {} },
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(async () => {
    server.closeAllConnections()
    server.close()
    await auth.close()
  })
  await auth.ready()
  const address = server.address()
  const port = typeof address === 'object' && address !== null ? address.port : 0
  const url = `http://127.0.0.1:${port}`
  return { auth, url, call: async (headers = {}) => (await fetch(`${url}/api/x`, { headers })).status }
}
