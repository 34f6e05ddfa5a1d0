import { memberOf } from '../../../lib/members.js'
/** No usable connection, so nothing was run. `code` comes from the driver or the server; ETIMEDOUT after too long a wait. */
export class Unreachable extends Error {
  readonly code: string

  constructor(cause: unknown) {
    super('The database server cannot be reached.', { cause })
    this.name = 'Unreachable'
    this.code = codeOf(cause) ?? codelessOf(cause)
  }
}

/** The connection broke during a statement. The server may or may not have run it. */
export class Lost extends Error {
  readonly code: string

  constructor(cause: unknown) {
    super('The connection to the database server broke.', { cause })
    this.name = 'Lost'
    this.code = codeOf(cause) ?? codelessOf(cause)
  }
}

/**
 * The driver's error without statements and values of rows. MySQL's errors carry the whole statement, with addresses and
 * hashes, and quote the existing value in their message; PostgreSQL's quote it in `detail`. Loggers print an error together
 * with its cause.
 */
export function withoutValues(error: unknown): unknown {
  if (!(error instanceof Error)) return error
  const quotes = 'sqlMessage' in error
  for (const name of ['sql', 'sqlMessage', 'detail', 'where', 'internalQuery']) Reflect.deleteProperty(error, name)
  if (!quotes) return error
  const { message, stack = '' } = error
  error.message = message.replace(/'.*'/s, '…')
  error.stack = stack.replace(message, () => error.message)
  return error
}

/** Codes of a server that runs and refuses the connection. Waiting does not help. */
const refusals: Readonly<Record<string, string>> = {
  '28000': 'refuses the user or the password of the URL. Correct them',
  '28P01': 'refuses the user or the password of the URL. Correct them',
  ER_ACCESS_DENIED_ERROR: 'refuses the user or the password of the URL. Correct them',
  ER_DBACCESS_DENIED_ERROR:
    'does not let the user of the URL into the database. Grant access, or name another database',
  '3D000': 'has no database of that name. Create it, or correct the name in the URL',
  ER_BAD_DB_ERROR: 'has no database of that name. Create it, or correct the name in the URL',
  ER_NO_DB_ERROR: 'needs the name of a database. Add it to the path of the URL',
  '42501': 'does not grant the user of the URL the rights it needs. docs/deploy/databases.md lists them',
  ER_TABLEACCESS_DENIED_ERROR:
    'does not grant the user of the URL the rights it needs. docs/deploy/databases.md lists them',
  '53300': 'has no connection left. Raise its limit, or lower connection_limit in the URL',
  ER_CON_COUNT_ERROR: 'has no connection left. Raise its limit, or lower connection_limit in the URL',
  ENOTFOUND: 'has a host name that DNS does not know. Check the host in the URL',
}

/**
 * The error in words that name the server and the setting. Drivers put the user name into their messages, so only the code
 * of a refusal is kept.
 */
export function explainServerError(error: unknown, place: string): unknown {
  const code = codeOf(error)
  if (code === null) return error
  const refusal = refusals[code]
  if (refusal !== undefined) return Object.assign(new Error(`database: ${place} ${refusal}.`), { code })
  if (error instanceof Unreachable || error instanceof Lost) {
    const refused = refusedParameter(error.cause)
    if (refused !== null) return new Error(`database: ${place} ${refused}`, { cause: error.cause })
    return new Error(
      `database: ${place} cannot be reached (${code}). Check that it runs, and the host and port in the URL.`,
      { cause: error.cause },
    )
  }
  return new Error(`database: ${place} answered with an error (${code}). See the log of the server.`, { cause: error })
}

/** PgBouncer names the first connection parameter that it does not know. It is ours, or comes from the URL. */
function refusedParameter(cause: unknown): string | null {
  const [, name] = /unsupported startup parameter(?: in options)?: (\w+)/.exec(String(memberOf(cause, 'message'))) ?? []
  if (name === undefined) return null
  if (/timeout$/.test(name)) {
    return 'is a PgBouncer, which refuses the time limits of a session (08P01). Add pgbouncer=true to the URL.'
  }
  return `is a PgBouncer, which refuses ${name} (08P01). Take it out of the URL, or name it in ignore_startup_parameters of PgBouncer.`
}

/** Whether waiting may help: the server restarts, or has no free connection. Not a timeout: it has waited already. */
export function isCut(error: unknown): error is Unreachable | Lost {
  const isOurs = error instanceof Unreachable || error instanceof Lost
  return isOurs && !hopeless.includes(error.code)
}

const crowded = ['53300', 'ER_CON_COUNT_ERROR']
const hopeless = [
  'ETIMEDOUT',
  'PROTOCOL_SEQUENCE_TIMEOUT',
  ...Object.keys(refusals).filter((code) => !crowded.includes(code)),
]

/** Some driver errors have no code: a wait that was given up, and a connection that ended. */
function codelessOf(error: unknown): string {
  return error instanceof Error && /time-?out/i.test(error.message) ? 'ETIMEDOUT' : 'ECONNRESET'
}

function codeOf(error: unknown): string | null {
  const code = memberOf(error, 'code')
  return typeof code === 'string' ? code : null
}
