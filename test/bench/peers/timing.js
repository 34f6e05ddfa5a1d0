// Latchkey with many accounts and cheaper hashes, for `npm run timing`. Its mails take three seconds each to go out.
import { randomUUID } from 'node:crypto'
import express from 'express'
import { init } from '../../../dist/index.js'
import { configuration } from './latchkey-settings.js'

export async function start({ baseUrl, file }) {
  const app = express()
  const settings = configuration(baseUrl, file)
  const auth = init(app, {
    ...settings,
    registration: { emailVerification: 'required' },
    password: { ...settings.password, cost: 10 },
    mail: { from: 'timing@example.com', transport: slow },
    limits: {
      login: { ip: '1000000/1m', account: '1000000/15m' },
      mail: { ip: '1000000/1m', account: '1000000/15m' },
    },
  })
  await auth.ready()
  const known = Array.from({ length: 990 }, () => `known-${randomUUID()}@example.com`)
  for (const email of known) {
    await auth.users.create({ email, password: `difference-engine-${randomUUID()}`, emailVerified: true })
  }
  return { app, credentials: { known } }
}

const slow = {
  name: 'slow',
  version: '1',
  send: (mail, callback) =>
    setTimeout(() => callback(null, { envelope: mail.data.envelope ?? {}, messageId: '' }), 3_000).unref(),
}
