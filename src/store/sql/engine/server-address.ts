import { readFileSync } from 'node:fs'
import { isIP } from 'node:net'

/** What the URL of a database server contains. Some of its parameters are ours; the driver gets the rest. */
export interface ServerAddress {
  /** The name of the server in messages, without the rest of the URL. */
  place: string
  /** The URL without the parameters below. */
  url: string
  /** `connection_limit`: connections of this process. Default 10. */
  connectionLimit: number
  /** `connect_timeout`, in the URL in seconds: how long a step waits for a connection. Default 3 s. */
  connectTimeoutMs: number
  /** `statement_timeout`, in milliseconds: when the server gives up a statement. Default 10 s. */
  statementTimeoutMs: number
  /** `pgbouncer=true`: another connection may carry the next transaction, so no state is kept on a connection. */
  pooled: boolean
  tls: Tls | null
}

/** Options of node's `tls.connect`. `null` above leaves TLS to the driver's own parameters; without any there is no TLS. */
export interface Tls {
  rejectUnauthorized: boolean
  ca?: string
  cert?: string
  key?: string
}

/** The spellings of PostgreSQL and of MySQL, both accepted for both. */
const modeNames = ['sslmode', 'ssl-mode'] as const
const fileNames = {
  ca: ['sslrootcert', 'ssl-ca'],
  cert: ['sslcert', 'ssl-cert'],
  key: ['sslkey', 'ssl-key'],
} as const

const schemes = { postgres: 'PostgreSQL', mysql: 'MySQL' } as const
const ports = { postgres: '5432', mysql: '3306' } as const

/**
 * Reads the URL.
 *
 * @throws {Error} that names the wrong parameter and quotes nothing that may be secret
 * @example
 * parseServerUrl('postgres', 'postgres://app:secret@db.example/app?sslmode=require&connection_limit=20')
 */
export function parseServerUrl(kind: 'postgres' | 'mysql', text: string): ServerAddress {
  const url = new URL(text)
  const socket = url.searchParams.get(kind === 'postgres' ? 'host' : 'socketPath')
  const host = socket ?? `${url.hostname || 'localhost'}:${url.port || ports[kind]}`
  const tls = takeTls(url)
  // mysql2 would compare the certificate with `localhost`.
  if (kind === 'mysql' && tls?.rejectUnauthorized && isIP(url.hostname.replace(/[[\]]/g, ''))) {
    throw new Error(
      'database: with TLS, put the host name of the MySQL server into the URL. The driver cannot check an IP address.',
    )
  }
  const address = {
    place: `${schemes[kind]} at ${host}`,
    connectionLimit: takeNumber(url, 'connection_limit', 10),
    connectTimeoutMs: takeNumber(url, 'connect_timeout', 3) * 1_000,
    statementTimeoutMs: takeNumber(url, 'statement_timeout', 10_000),
    pooled: take(url, ['pgbouncer']) === 'true',
    tls,
  }
  return { ...address, url: url.href }
}

function take(url: URL, names: readonly string[]): string | null {
  const value = names.map((name) => url.searchParams.get(name)).find((each) => each !== null)
  for (const name of names) url.searchParams.delete(name)
  return value ?? null
}

function takeNumber(url: URL, name: string, otherwise: number): number {
  const text = take(url, [name])
  if (text === null) return otherwise
  if (!/^[1-9]\d{0,8}$/.test(text)) throw new Error(`database: ${name} in the URL must be a whole number from 1.`)
  return Number(text)
}

/**
 * TLS always checks the server's certificate and name. Under `require`, libpq and MySQL's clients check neither, which does
 * not protect against an attacker between the two. Only `no-verify` turns the check off, and its name says so.
 */
function takeTls(url: URL): Tls | null {
  // pg then reads these parameters by libpq's laxer rules, so leave all of them to the driver.
  if (url.searchParams.get('uselibpqcompat') === 'true') return null
  const mode = take(url, modeNames)?.toLowerCase().replace('_', '-') ?? takeSwitch(url)
  const files = Object.entries(fileNames).flatMap(([name, names]) => {
    const path = take(url, names)
    return path === null ? [] : [[name, readPart(names[0], path)]]
  })
  if (mode === null && files.length === 0) return null
  if (mode === 'disable' || mode === 'disabled') return null
  if (mode !== null && !tlsModes.includes(mode)) {
    throw new Error('database: sslmode in the URL must be disable, require, verify-full or no-verify.')
  }
  return { rejectUnauthorized: mode !== 'no-verify', ...Object.fromEntries(files) }
}

/** `ssl=true`, as hosting companies write it. Any other value is left to the driver. */
function takeSwitch(url: URL): string | null {
  const value = url.searchParams.get('ssl')
  if (value === null || !/^(true|false|0|1)$/.test(value)) return null
  url.searchParams.delete('ssl')
  return value === 'true' || value === '1' ? 'require' : 'disable'
}

const tlsModes = [
  ...['prefer', 'require', 'verify-ca', 'verify-full', 'no-verify'],
  ...['preferred', 'required', 'verify-identity'],
]

function readPart(name: string, path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch (cause) {
    throw new Error(`database: the file that ${name} in the URL names cannot be read. Check its path and rights.`, {
      cause,
    })
  }
}
