import { Socket } from 'node:net'
import type { Client, ClientConfig } from 'pg'
import { coalesced } from '../../../lib/coalesce.js'
import type { Logger } from '../../../settings.js'
import type { Wake } from '../../wake.js'
import type { ServerAddress } from './server-address.js'

export interface NotifyOptions {
  /** Of the primary. */
  address: ServerAddress
  /** Stands in the channel: several installations may share one database. */
  installationId: string
  /** Drawn for this process: tells its own wake-ups from those of others. */
  self: string
  random(): number
  timer: (milliseconds: number, callback: () => void) => () => void
  logger: Logger
}

/** How often the connection is asked whether it lives: one that nobody sends on shows no loss by itself. */
const heartbeatMs = 10_000
/** How long each statement may take. */
const patienceMs = 2_000
const goodbyeMs = 500
const firstRetryMs = 250
const longestRetryMs = 30_000

/**
 * Wake-ups by LISTEN and NOTIFY, over one connection beside the pool. Opens in the background and comes back by itself: a
 * server or pooler that has no LISTEN costs half a second, not the news.
 *
 * It is notified right after the commit and not within the transaction: notifying transactions commit one at a time in the
 * whole cluster of databases (PostgreSQL, `PreCommit_Notify`), and what a process killed in between does not tell is found
 * by polling.
 */
export async function openNotifyWake(options: NotifyOptions): Promise<Wake> {
  const { default: pg } = await import('pg')
  const { address, installationId, self } = options
  const channel = `latchkey_${installationId}`
  const listenSql = `LISTEN ${pg.escapeIdentifier(channel)}`
  let wake = () => {}

  const kept: Kept = { line: null, retryMs: firstRetryMs, failing: false, closed: false, stopTimer: () => {} }
  const use: Use = {
    connect: () => createLine(address, (config) => new pg.Client(config)),
    async opened(client) {
      client.on('notification', ({ payload }) => void (payload !== self && wake()))
      await client.query(listenSql)
      wake() // what was told meanwhile
    },
  }
  void open(options, use, kept)
  return {
    notify: coalesced(async () => {
      if (kept.line?.isOpen) await kept.line.client.query('SELECT pg_notify($1, $2)', [channel, self])
    }),
    listen(listener) {
      wake = listener
      wake()
    },
    async close() {
      kept.closed = true
      kept.stopTimer()
      await kept.line?.end()
    },
  }
}

/** One connection. */
interface Line {
  client: Client
  isOpen: boolean
  end(): Promise<void>
  /** Cuts a connection that answers nothing any more. */
  cut(): void
}

function createLine(
  { url, tls, connectTimeoutMs }: ServerAddress,
  createClient: (config: ClientConfig) => Client,
): Line {
  // A socket of ours, so that it can be cut and keeps no program alive.
  const socket = new Socket().unref()
  const client = createClient({
    connectionString: url,
    ...(tls && { ssl: tls }),
    fallback_application_name: 'latchkey wake-ups',
    stream: () => socket,
    keepAlive: true,
    keepAliveInitialDelayMillis: heartbeatMs,
    connectionTimeoutMillis: connectTimeoutMs,
    query_timeout: patienceMs,
  })
  return {
    client,
    isOpen: false,
    async end() {
      // Node would exit with code 13 while a script that has nothing else to do awaits this.
      socket.ref()
      socket.setTimeout(goodbyeMs, () => socket.destroy())
      await client.end().catch(() => {})
    },
    cut: () => void socket.destroy(),
  }
}

/** The connection of the moment, of which another is opened after each that ends, a little later each time. */
interface Kept {
  line: Line | null
  retryMs: number
  failing: boolean
  closed: boolean
  stopTimer: () => void
}

interface Use {
  connect(): Line
  /** Rejects when the connection is good for nothing. */
  opened(client: Client): Promise<void>
}

function openLater(options: NotifyOptions, use: Use, kept: Kept, error: unknown): void {
  kept.line = null
  report(options.logger, kept, error)
  const waitMs = kept.retryMs * (0.5 + options.random() / 2)
  kept.retryMs = Math.min(kept.retryMs * 2, longestRetryMs)
  kept.stopTimer()
  kept.stopTimer = options.timer(waitMs, () => void open(options, use, kept))
}

async function open(options: NotifyOptions, use: Use, kept: Kept): Promise<void> {
  let line: Line
  try {
    line = use.connect()
  } catch (error) {
    // A certificate that was there at the start may be gone.
    return openLater(options, use, kept, error)
  }
  kept.line = line
  const lose = (error: unknown) => {
    line.cut()
    if (kept.line === line && !kept.closed) openLater(options, use, kept, error)
  }
  const beat = () => {
    kept.stopTimer = options.timer(heartbeatMs, () => void line.client.query('SELECT 1').then(beat, lose))
  }
  line.client.on('error', lose)
  line.client.on('end', () => lose(null))
  try {
    await line.client.connect()
    await use.opened(line.client)
  } catch (error) {
    return lose(error)
  }
  if (kept.line !== line || kept.closed) return line.cut()
  line.isOpen = true
  kept.retryMs = firstRetryMs
  report(options.logger, kept)
  beat()
}

/** Says once that it is lost and once, without an error, that it is back. */
function report(logger: Logger, kept: Kept, error?: unknown): void {
  const failing = error !== undefined
  if (failing === kept.failing) return
  kept.failing = failing
  const fields = { event: 'wake_ups', error: codeOf(error) }
  if (failing) logger.warn(fields, 'PostgreSQL cannot be listened to; news of other processes take half a second.')
  else logger.warn(fields, 'PostgreSQL can be listened to again.')
}

/** The code alone: messages of a driver may quote what it was given. */
function codeOf(error: unknown): string | null {
  if (!(error instanceof Error)) return null
  return 'code' in error ? String(error.code) : error.name
}
