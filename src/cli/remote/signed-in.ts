import { type Fields, fieldsIn, textIn } from '../../lib/json-fields.js'
import type { Address } from '../address.js'
import type { SignIn } from '../files/credentials.js'
import { version } from '../version.js'
import type { Answer } from './exchange.js'
import { readAnswer, type Sent, send } from './send.js'

/** Token mode: the server sets no cookie, and its answer has the tokens. */
export function headersOf(accessToken: string | null = null): Readonly<Record<string, string>> {
  return {
    ...userAgent(),
    'x-auth-mode': 'token',
    ...(accessToken !== null && { authorization: `Bearer ${accessToken}` }),
  }
}

export function userAgent(): Readonly<Record<string, string>> {
  return { 'user-agent': `latchkey/${version()}` }
}

/** Sends a request without a credential in a header. */
export function sendOpen(request: Omit<Sent, 'headers'>): Promise<Answer> {
  return send({ ...request, headers: headersOf() })
}

/** The session of a sign-in's answer in token mode. */
export function readSignIn(answer: Answer, { site }: Address): SignIn {
  return readAnswer(answer, site, (fields) => ({
    email: emailIn(fields),
    accessToken: textIn(fields, 'accessToken'),
    accessTokenExpiresAt: textIn(fields, 'accessTokenExpiresAt'),
    refreshToken: textIn(fields, 'refreshToken'),
  }))
}

/** The sign-in with the tokens of a refresh, whose answer has only those that are new. */
export function readRefreshed(answer: Answer, { site }: Address, former: SignIn): SignIn {
  return readAnswer(answer, site, (fields) => ({
    email: emailIn(fields),
    accessToken: textIn(fields, 'accessToken'),
    accessTokenExpiresAt: textIn(fields, 'accessTokenExpiresAt'),
    refreshToken: fields.refreshToken === undefined ? former.refreshToken : textIn(fields, 'refreshToken'),
  }))
}

function emailIn(fields: Fields): string {
  return textIn(fieldsIn(fields, 'user'), 'email')
}
