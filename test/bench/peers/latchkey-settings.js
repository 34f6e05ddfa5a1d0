// Latchkey as it comes: bcrypt 12 in its workers, SQLite, every check on. Only what a benchmark cannot do without is
// changed: tokens that outlive the measuring, accounts without a confirmed address, no call to the breach list, mails that
// go nowhere, and a minute's worth of sign-ins from the one address that all the load comes from.
import { randomBytes } from 'node:crypto'

export function configuration(baseUrl, file, [access, refresh] = [random(), random()]) {
  return {
    JWT_ACCESS_TOKEN_SECRET: access,
    JWT_REFRESH_TOKEN_SECRET: refresh,
    baseUrl,
    accessTokenLifetime: '1d',
    database: `sqlite:${file}`,
    mail: { from: 'bench@example.com', transport: nowhere },
    registration: { emailVerification: 'optional' },
    password: { checkBreached: false },
    limits: { login: { ip: '1000000/1m' }, mail: { ip: '1000000/1m' } },
  }
}

function random() {
  return randomBytes(48).toString('base64url')
}

/** What the tokens of the other issuer say. */
export const parties = { issuer: 'https://issuer.example', audience: 'bench' }

const nowhere = {
  name: 'nowhere',
  version: '1',
  send: (mail, callback) => callback(null, { envelope: mail.data.envelope ?? {}, messageId: '' }),
}
