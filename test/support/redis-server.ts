import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { Redis } from 'ioredis'
import { onTestFinished } from 'vitest'
import { openRedis, type RedisStore, type RedisStoreOptions } from '../../src/store/redis/open.js'
import { temporaryFolder } from './auth.js'
import { randomId } from './databases.js'
import { freePort } from './program.js'

/** The Redis of this machine. */
export const redisUrl = process.env.LATCHKEY_TEST_REDIS ?? 'redis://127.0.0.1:6379'

const patienceMs = 30_000

/** Log lines, kept. */
export interface Lines {
  lines: { level: 'warn' | 'error'; fields: Readonly<Record<string, unknown>>; message: string }[]
  logger: RedisStoreOptions['logger']
}

export function keptLines(): Lines {
  const lines: Lines['lines'] = []
  return {
    lines,
    logger: {
      warn: (fields, message) => void lines.push({ level: 'warn', fields, message }),
      error: (fields, message) => void lines.push({ level: 'error', fields, message }),
    },
  }
}

export function realTimer(milliseconds: number, callback: () => void): () => void {
  const timer = setTimeout(callback, milliseconds)
  return () => clearTimeout(timer)
}

/** Everything `openRedis` wants: an installation of its own on the Redis of this machine. */
export function redisOptions(overrides: Partial<RedisStoreOptions> = {}): RedisStoreOptions {
  return {
    redis: redisUrl,
    installationId: `test-${randomId()}`,
    self: randomId(),
    random: () => 0.5,
    sleep: (milliseconds) => sleep(milliseconds),
    timer: realTimer,
    logger: keptLines().logger,
    ...overrides,
  }
}

/** What one process has of Redis; closed when the test ends, and its keys are gone then. */
export async function openTestRedis(overrides: Partial<RedisStoreOptions> = {}): Promise<RedisStore> {
  const options = redisOptions(overrides)
  const opened = await openRedis(options)
  onTestFinished(async () => {
    await opened.close()
    await dropKeys(options.installationId)
  })
  return opened
}

/** A look at a server from beside Latchkey; closed when the test ends. */
export function lookInto(url = redisUrl): Redis {
  const redis = new Redis(url, { lazyConnect: true, protocol: 2, disableClientInfo: true })
  redis.on('error', () => {})
  onTestFinished(() => redis.disconnect())
  return redis
}

export async function dropKeys(installationId: string): Promise<void> {
  const redis = new Redis(redisUrl)
  const keys = await redis.keys(`latchkey:${installationId}:*`)
  if (keys.length > 0) await redis.del(...keys)
  redis.disconnect()
}

/** A Redis of the test's own, which may be killed. Keeps nothing on disk, so each start is empty. */
export interface PrivateRedis {
  port: number
  url: string
  start(): Promise<void>
  /** kill -9, and waits until it is dead. */
  kill(): Promise<void>
  /** Lets it hang without closing anything, and go on. */
  signal(name: 'SIGSTOP' | 'SIGCONT'): void
  /** How many are connected. */
  clients(): Promise<number>
}

/** @param flags as on the command line: `['--requirepass', 'x']` */
export async function startRedis(flags: readonly string[] = [], onPort?: number): Promise<PrivateRedis> {
  const folder = temporaryFolder()
  const port = onPort ?? (await freePort())
  let child: ChildProcess | null = null

  async function kill(): Promise<void> {
    const dying = child
    child = null
    if (!dying || dying.exitCode !== null || dying.signalCode !== null) return
    dying.kill('SIGCONT')
    dying.kill('SIGKILL')
    await once(dying, 'exit')
  }

  async function start(): Promise<void> {
    const own = ['--port', String(port), '--bind', '127.0.0.1', '--save', '', '--dir', folder]
    child = spawn('redis-server', [...own, ...flags], { stdio: ['ignore', 'pipe', 'inherit'] })
    await ready(child)
  }

  onTestFinished(kill)
  await start()
  return {
    port,
    url: `redis://127.0.0.1:${port}`,
    start,
    kill,
    signal: (name) => void child?.kill(name),
    async clients() {
      const redis = new Redis(port, { disableClientInfo: true })
      const list = String(await redis.call('CLIENT', 'LIST'))
      redis.disconnect()
      return list.trim().split('\n').length - 1
    },
  }
}

async function ready({ stdout }: ChildProcess): Promise<void> {
  let text = ''
  for await (const chunk of stdout ?? []) {
    text += chunk
    if (text.includes('Ready to accept connections')) break
  }
  if (!text.includes('Ready to accept connections')) throw new Error(`redis-server did not start: ${text}`)
}

/** Waits until it is true. */
export async function until(what: string, isTrue: () => unknown, limitMs = patienceMs): Promise<void> {
  const beganAt = performance.now()
  while (!(await isTrue())) {
    if (performance.now() - beganAt > limitMs) throw new Error(`Not within ${limitMs} ms: ${what}`)
    await sleep(5)
  }
}
