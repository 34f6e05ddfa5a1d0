import { memberOf } from '../../../lib/members.js'
/** No usable connection was to be had: nothing was run. `code` is the driver's or the server's; ETIMEDOUT when it took too long. */
export class Unreachable extends Error {
  readonly code: string

  constructor(cause: unknown) {
    super('The database server cannot be reached.', { cause })
    this.name = 'Unreachable'
    this.code = codeOf(cause) ?? codelessOf(cause)
  }
}

/** The connection broke under a statement: nobody knows whether the server has run it. */
export class Lost extends Error {
  readonly code: string

  constructor(cause: unknown) {
    super('The connection to the database server broke.', { cause })
    this.name = 'Lost'
    this.code = codeOf(cause) ?? codelessOf(cause)
  }
}

/**
 * The driver's error without what it tells of statements and rows: MySQL's carries the whole text of the statement, with
 * addresses and hashes in it, and quotes in its message what was there already; PostgreSQL's has that in `detail`. Whoever
 * prints an error prints its cause.
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

/** Codes of a server that is there, but not for us: waiting does not help. */
const refusals: Readonly<Record<string, string>> = {
  '28000': 'refuses the user or the password of the URL',
  '28P01': 'refuses the user or the password of the URL',
  ER_ACCESS_DENIED_ERROR: 'refuses the user or the password of the URL',
  ER_DBACCESS_DENIED_ERROR: 'does not let the user of the URL into the database',
  '3D000': 'has no database of that name',
  ER_BAD_DB_ERROR: 'has no database of that name',
  ER_NO_DB_ERROR: 'is not told which database: the URL names none',
  '42501': 'does not grant the user of the URL what is needed; the README lists it',
  ER_TABLEACCESS_DENIED_ERROR: 'does not grant the user of the URL what is needed; the README lists it',
  '53300': 'has no connection left',
  ER_CON_COUNT_ERROR: 'has no connection left',
  ENOTFOUND: 'has a name that nobody knows',
}

/**
 * The error in words that say which server and which setting. Drivers put the user into theirs, so that only the code
 * of it is kept where the server refused somebody.
 */
export function explainServerError(error: unknown, place: string): unknown {
  const code = codeOf(error)
  if (code === null) return error
  const refusal = refusals[code]
  if (refusal !== undefined) return Object.assign(new Error(`database: ${place} ${refusal}.`), { code })
  if (error instanceof Unreachable || error instanceof Lost) {
    return new Error(`database: ${place} cannot be reached (${code}).`, { cause: error.cause })
  }
  return new Error(`database: ${place} answered with an error (${code}).`, { cause: error })
}

/** Whether waiting may help: the server restarts, or has no connection left. A time-out has cost the patience already. */
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

/** Drivers give up waiting, and notice the end of a connection, without a code. */
function codelessOf(error: unknown): string {
  return error instanceof Error && /time-?out/i.test(error.message) ? 'ETIMEDOUT' : 'ECONNRESET'
}

function codeOf(error: unknown): string | null {
  const code = memberOf(error, 'code')
  return typeof code === 'string' ? code : null
}
