// better-auth at its best, unless told otherwise: the session is read from the signed cookie cache, not from the database.
import { randomBytes } from 'node:crypto'
import Database from 'better-sqlite3'

export function configuration(baseURL, file, secret = random(), { cookieCache = true } = {}) {
  return {
    baseURL,
    secret,
    database: new Database(file),
    emailAndPassword: { enabled: true },
    session: { cookieCache: { enabled: cookieCache, maxAge: 3600 } },
    rateLimit: { enabled: false },
    telemetry: { enabled: false },
    logger: { level: 'error' },
  }
}

function random() {
  return randomBytes(48).toString('base64url')
}
