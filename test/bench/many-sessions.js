// Users and sessions by the million, written by the database itself, and refresh tokens for them.
import { createHash } from 'node:crypto'
import jwt from 'jsonwebtoken'
import pg from 'pg'

const year = 365 * 24 * 3600

/** Adds users `first` to `last`, each with so many sessions that were never refreshed. Ids are spread as random ones are. */
export async function addUsers(url, { first, last, sessionsEach }) {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  const now = Math.floor(Date.now() / 1000)
  // No checks of foreign keys row by row: these rows are right by construction.
  await client.query("set session_replication_role = 'replica'; set synchronous_commit = off")
  await client.query(
    `insert into latchkey_users (id, email, email_canonical, email_verified, roles, fields, version, identities, created_at)
     select substr(md5('u' || n), 1, 22), 'user' || n || '@example.com', 'user' || n || '@example.com', 1, '[]', '{}', 1,
            '[]', $3::bigint - n % 1000000
     from generate_series($1::bigint, $2::bigint) n`,
    [first, last, now],
  )
  await client.query(
    `insert into latchkey_sessions (id, ordinal, user_id, mode, counter, proven_at_ms, refresh_issued_at,
       refresh_expires_at, amr, auth_time, created_at, expires_at, last_seen_at, ip, user_agent)
     select substr(md5('s' || (n * $3::bigint + k)), 1, 22), n * $3::bigint + k, substr(md5('u' || n), 1, 22), 'cookie', 0,
            null, $4::bigint - n % 100000, $4::bigint + 2592000 - n % 100000, '["pwd"]', $4::bigint, $4::bigint - n % 100000,
            $4::bigint + 7776000, $4::bigint, '192.0.2.1', 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0'
     from generate_series($1::bigint, $2::bigint) n, generate_series(0, $3::bigint - 1) k`,
    [first, last, sessionsEach, now],
  )
  await client.query('vacuum analyze latchkey_users')
  await client.query('vacuum analyze latchkey_sessions')
  await client.query('checkpoint')
  await client.end()
}

/** Refresh requests, each for a session of its own that was never refreshed: every one raises a counter. */
export function refreshRequests({ refreshCookie, secret, origin }, sessions) {
  const pairs = refreshCookie.split('; ').map((pair) => pair.split('='))
  const [name, sample] = pairs.find(([name]) => name.endsWith('refresh-token'))
  const { header, payload } = jwt.decode(sample, { complete: true })
  const key = Buffer.from(secret)
  return sessions.map(({ session, user }) => {
    const now = Math.floor(Date.now() / 1000)
    const claims = {
      ...payload,
      sub: idOf('u', user),
      sid: idOf('s', session),
      ctr: 0,
      iat: now,
      exp: now + year / 365,
    }
    const token = jwt.sign(claims, key, { algorithm: 'HS256', header })
    const headers = { origin, cookie: `${name}=${token}`, 'x-forwarded-for': addressOf(session) }
    return { method: 'POST', path: '/auth/refresh', headers }
  })
}

function idOf(kind, number) {
  return createHash('md5').update(`${kind}${number}`).digest('hex').slice(0, 22)
}

function addressOf(number) {
  return `10.${(number >> 16) & 255}.${(number >> 8) & 255}.${number & 255}`
}
