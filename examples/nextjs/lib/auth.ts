// lib/auth.ts
import { type Auth, createAuth, type FetchGate } from 'latchkey'

declare global {
  var latchkey: Auth<FetchGate> | undefined
}

globalThis.latchkey ??= createAuth({
  baseUrl: process.env.BASE_URL,
  JWT_ACCESS_TOKEN_SECRET: process.env.JWT_ACCESS_TOKEN_SECRET,
  JWT_REFRESH_TOKEN_SECRET: process.env.JWT_REFRESH_TOKEN_SECRET,
  database: process.env.DATABASE_URL,
  mail: { from: 'Notes <notes@example.com>', transport: process.env.MAIL_URL ?? '' },
})

export const auth = globalThis.latchkey
