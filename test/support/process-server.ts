import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import Database from 'better-sqlite3'
import { expect, onTestFinished } from 'vitest'
import type { LatchkeySettings } from '../../src/index.js'
import { createTestClient, type TestAnswer, type TestClient, testSettings } from '../../src/testing.js'
import type { DeliveredMail, TestSmtpServer } from './smtp-server.js'

const program = fileURLToPath(new URL('process-server-child.js', import.meta.url))
const patienceMs = 60_000

export interface ServerOptions {
  /** The SQLite file. */
  file: string
  /** SMTP URL. Default: a port where nobody listens. */
  smtp?: string
  /** Over those that every process of the test shares; what JSON can carry. */
  settings?: Partial<LatchkeySettings>
  /** How far this process's clocks are ahead. */
  aheadMs?: number
  /** Latchkey as in production: no test runtime, so hashes cost what they cost and limits are on. */
  plain?: boolean
  /** The store can be made unreachable: POST /control/store?down=true. */
  breakable?: boolean
}

/** How a process ended. */
export interface Ending {
  code: number | null
  signal: NodeJS.Signals | null
}

/** A process of its own. */
export interface ServerProcess {
  url: string
  /** A browser at this server; with `from`, one that holds what that one holds. */
  client(from?: TestClient): TestClient
  /** What it has logged under that event. */
  logged(event: string): Readonly<Record<string, unknown>>[]
  signal(name: NodeJS.Signals): void
  /** kill -9, and waits until it is dead. */
  kill(): Promise<void>
  /** SIGTERM; how it then ended by itself. */
  stop(): Promise<Ending>
}

/** Processes of one application: they share secrets and address. Killed when the test ends, if they live. */
export interface Fleet {
  /** Lets the next process load its modules already, while the present one works. */
  prepare(): void
  start(options: ServerOptions): Promise<ServerProcess>
  /** A program without a server that lets one visitor register, closes nothing, and is left alone until it ends. */
  visit(options: ServerOptions, visitor: { email: string; password: string }): Promise<Ending>
}

const origin = 'http://localhost:3000'

export function createFleet(): Fleet {
  const { mail: _mail, database: _database, ...common } = testSettings({ baseUrl: origin })
  let prepared: Raw | null = null

  function spawned(): Raw {
    const raw = spawnProgram()
    onTestFinished(() => raw.kill())
    return raw
  }

  function take(): Raw {
    const taken = prepared ?? spawned()
    prepared = null
    return taken
  }

  function tell({ child }: Raw, options: ServerOptions, rest: object): void {
    const { file, smtp = 'smtp://127.0.0.1:9', settings, aheadMs = 0, plain = false, breakable = false } = options
    const { limits: _limits, password: _password, ...strict } = common
    const shared = plain ? { ...strict, password: { cost: 10, checkBreached: false } } : common
    const mail = { from: 'Test <auth@example.test>', transport: smtp }
    const all = { ...shared, database: `sqlite:${file}`, mail, ...settings }
    child.stdin?.end(JSON.stringify({ settings: all, file, aheadMs, plain, breakable, ...rest }))
  }

  return {
    prepare() {
      prepared ??= spawned()
    },
    async start(options) {
      const raw = take()
      tell(raw, options, { listen: true })
      const { port } = await raw.waitFor('listening')
      return asServer(raw, `http://127.0.0.1:${port}`)
    },
    async visit(options, visitor) {
      const raw = take()
      tell(raw, options, { listen: false, visitor })
      return raw.ended
    },
  }
}

function asServer(raw: Raw, url: string): ServerProcess {
  return {
    url,
    client(from) {
      const client = createTestClient(url, { headers: { origin } })
      for (const cookie of from?.cookies.all() ?? []) client.cookies.put(cookie)
      return client
    },
    logged: raw.logged,
    signal: (name) => void raw.child.kill(name),
    kill: raw.kill,
    stop() {
      raw.child.kill('SIGTERM')
      return raw.ended
    },
  }
}

interface Raw {
  child: ChildProcess
  ended: Promise<Ending>
  logged(event: string): Readonly<Record<string, unknown>>[]
  /** The first line under that event; rejects when the process ends without, or after 20 s. */
  waitFor(event: string): Promise<Readonly<Record<string, unknown>>>
  kill(): Promise<void>
}

function spawnProgram(): Raw {
  const child = spawn(process.execPath, ['--no-warnings', program], { stdio: ['pipe', 'pipe', 'pipe'] })
  const ended = once(child, 'close').then(([code, signal]): Ending => ({ code, signal }))
  let output = ''
  let faults = ''
  child.stdout.on('data', (chunk) => {
    output += String(chunk)
  })
  child.stderr.on('data', (chunk) => {
    faults += String(chunk)
  })
  // A process that is killed before it was told anything.
  child.stdin.on('error', () => {})

  function logged(event: string): Readonly<Record<string, unknown>>[] {
    const lines = output.split('\n').filter((line) => line.endsWith('}'))
    return lines.map((line): Record<string, unknown> => JSON.parse(line)).filter((fields) => fields.event === event)
  }

  return {
    child,
    ended,
    logged,
    async waitFor(event) {
      const deadline = Date.now() + patienceMs
      while (Date.now() < deadline && child.exitCode === null) {
        const [first] = logged(event)
        if (first) return first
        await new Promise((resolve) => setTimeout(resolve, 5))
      }
      throw new Error(`the process never logged ${event}, but:\n${output}${faults}`)
    },
    async kill() {
      child.kill('SIGKILL')
      await ended
    },
  }
}

/** The answer, or null when the server died over it. */
export function orLost<Answer>(asking: Promise<Answer>): Promise<Answer | null> {
  return asking.catch(() => null)
}

/** Waits for the mail to that address; the newest one if there are several. */
export async function mailTo(smtp: TestSmtpServer, address: string): Promise<DeliveredMail> {
  const found = () => mailsTo(smtp, address).at(-1)
  await expect.poll(found, { timeout: patienceMs, interval: 20 }).toBeDefined()
  const mail = found()
  if (!mail) throw new Error(`no mail to ${address}`)
  return mail
}

export function mailsTo(smtp: TestSmtpServer, address: string): DeliveredMail[] {
  return smtp.mails.filter((mail) => mail.envelope.to.includes(address))
}

/** The token of the mail's link. */
export function tokenOf(mail: DeliveredMail): string {
  const [, token] = mail.text?.match(/token=([\w.-]+)/) ?? []
  if (token === undefined) throw new Error('no link in the mail')
  return token
}

export const password = 'correct horse battery'

/** Registers and confirms by the mail's link; the browser is then signed in. */
export async function signUp(server: ServerProcess, smtp: TestSmtpServer, email: string): Promise<TestClient> {
  const browser = server.client()
  expect((await browser.post('/auth/register', { email, password })).status).toBe(202)
  const token = tokenOf(await mailTo(smtp, email))
  // The mail may be that of a registration whose answer was lost: then this browser does not hold its handle.
  expect((await browser.post('/auth/verify-email', { token, password })).status).toBe(200)
  return browser
}

/** The answer's code, for refusals. */
export function codeOf(answer: TestAnswer): unknown {
  const { body } = answer
  return typeof body === 'object' && body !== null && 'code' in body ? body.code : null
}

/** Asks the file itself, beside whoever has it open. */
export function query(file: string, sql: string): unknown[] {
  const database = new Database(file)
  try {
    return database.prepare(sql).all()
  } finally {
    database.close()
  }
}

export function expectIntact(file: string): void {
  expect(query(file, 'pragma integrity_check')).toEqual([{ integrity_check: 'ok' }])
  expect(query(file, 'pragma foreign_key_check')).toEqual([])
}
