import { Socket } from 'node:net'
import type { Client, ClientConfig } from 'pg'
import { coalesced } from '../../../lib/coalesce.js'
import type { Logger } from '../../../settings.js'
import type { Wake } from '../../wake.js'
import { requirePg } from './postgres.js'
import type { ServerAddress } from './server-address.js'

export interface NotifyOptions {
  /** The primary server. */
  address: ServerAddress
  /** Part of the channel's name, because several installations may share one database. */
  installationId: string
  /** A random id of this process. It distinguishes its own wake-ups from those of other processes. */
  self: string
  random(): number
  timer: (milliseconds: number, callback: () => void) => () => void
  logger: Logger
}

type NotifyOnceOptions = Pick<NotifyOptions, 'address' | 'installationId' | 'self'>

/** How often the connection is checked, because an idle connection does not report its loss. */
const heartbeatMs = 10_000
/** How long each statement may take. */
const patienceMs = 2_000
const goodbyeMs = 500
const firstRetryMs = 250
const longestRetryMs = 30_000

/**
 * Wake-ups by LISTEN and NOTIFY, over one connection beside the pool. It opens in the background and reconnects by itself.
 * With a server or pooler without LISTEN, changes arrive by polling, half a second later.
 *
 * It notifies right after the commit, not within the transaction: notifying transactions commit one at a time in the whole
 * cluster of databases (PostgreSQL, `PreCommit_Notify`). If the process is killed in between, polling finds the change.
 */
export async function openNotifyWake(options: NotifyOptions): Promise<Wake> {
  const pg = requirePg()
  const { address, installationId, self } = options
  const channel = channelOf(installationId)
  const listenSql = `LISTEN ${pg.escapeIdentifier(channel)}`
  let wake = () => {}

  const kept: Kept = { line: null, retryMs: firstRetryMs, failing: false, closed: false, stopTimer: () => {} }
  const use: Use = {
    connect: () => createLine(address, (config) => new pg.Client(config)),
    async opened(client) {
      client.on('notification', ({ payload }) => void (payload !== self && wake()))
      await client.query(listenSql)
      wake() // notifications may have been lost in the meantime
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

/** Wakes the readers in other processes once, for a process that ends now. It uses a connection of its own. */
export async function notifyOnce({ address, installationId, self }: NotifyOnceOptions): Promise<void> {
  const pg = requirePg()
  const line = createLine(address, (config) => new pg.Client(config))
  line.client.on('error', () => {}) // The query below rejects.
  try {
    await line.client.connect()
    await line.client.query('SELECT pg_notify($1, $2)', [channelOf(installationId), self])
  } finally {
    await line.end()
  }
}

function channelOf(installationId: string): string {
  return `latchkey_${installationId}`
}

/** One connection. */
interface Line {
  client: Client
  isOpen: boolean
  end(): Promise<void>
  /** Cuts a connection that no longer replies. */
  cut(): void
}

function createLine(
  { url, tls, connectTimeoutMs }: ServerAddress,
  createClient: (config: ClientConfig) => Client,
): Line {
  // Our own socket, so that it can be cut and does not keep the program running.
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
      // Otherwise node would exit with code 13 while a script with nothing else to do awaits this.
      socket.ref()
      socket.setTimeout(goodbyeMs, () => socket.destroy())
      await client.end().catch(() => {})
    },
    cut: () => void socket.destroy(),
  }
}

/** The current connection. After it ends, another is opened, with a longer pause after each failure. */
interface Kept {
  line: Line | null
  retryMs: number
  failing: boolean
  closed: boolean
  stopTimer: () => void
}

interface Use {
  connect(): Line
  /** Rejects when the connection can no longer be used. */
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
    // A certificate file that existed at the start may be gone.
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

/** Logs once that the connection is lost and once, without an error, that it is back. */
function report(logger: Logger, kept: Kept, error?: unknown): void {
  const failing = error !== undefined
  if (failing === kept.failing) return
  kept.failing = failing
  const fields = { event: 'wake_ups', error: codeOf(error) }
  if (failing)
    logger.warn(
      fields,
      'LISTEN fails on PostgreSQL. Until it works again, changes by other processes arrive half a second later.',
    )
  else logger.warn(fields, 'LISTEN works again on PostgreSQL.')
}

/** The code alone, because driver messages may quote their input. */
function codeOf(error: unknown): string | null {
  if (!(error instanceof Error)) return null
  return 'code' in error ? String(error.code) : error.name
}
