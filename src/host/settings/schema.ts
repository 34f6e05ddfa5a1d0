import { resolve } from 'node:path'
import { z } from 'zod'
import { isObject } from '../../lib/json-object.js'
import { isSecureUrl, parseOrigin } from '../../lib/url.js'
import { baseUrl } from '../../settings/addresses.js'
import { foreign, nothing, orNull, sentenceOf, shortText, text } from '../../settings/field.js'
import type { MailInput } from '../../settings/input.js'
import { mail } from '../../settings/mail.js'
import { trustedProxies } from '../../settings/networks.js'
import type { HostAccountsInput } from './input.js'
import { hostLimits } from './limits.js'
import { listenAddress } from './listen.js'

const adminUrl = text(
  'must be an origin such as https://admin.example.com: https (http on loopback), without a path',
  (value) => {
    const origin = parseOrigin(value)
    return origin !== null && isSecureUrl(new URL(origin)) ? origin : null
  },
)

const folder = text('must be the path of a folder', (value) =>
  value === '' || /\p{Cc}/u.test(value) ? null : resolve(value),
)

const isolation = z.enum(['auto', 'sandbox', 'process'])

const database = text(
  'must be a postgres: URL that names a user and a database, such as postgres://latchkey@db.example/latchkey. Without it everything is in SQLite files in the folder data',
  (value) => (isPostgresUrl(value) ? value : null),
)

/** The user too: the threads that read the data of spaces see no environment. */
function isPostgresUrl(text: string): boolean {
  if (!/^postgres(?:ql)?:\/\/\P{Cc}+$/u.test(text) || !URL.canParse(text)) return false
  const { username, pathname } = new URL(text)
  return username !== '' && pathname.length > 1
}

/** The accounts parse it; here it is only looked at. */
const accounts = foreign<HostAccountsInput>('must be an object', isObject)

/** Kept as it was written, because the accounts parse it again. */
const writtenMail = foreign<MailInput>('must be an object', isObject).superRefine((value, context) => {
  for (const issue of mail.safeParse(value, { error: sentenceOf }).error?.issues ?? []) context.addIssue({ ...issue })
})

/** The table of settings. Rules over several of them are in `rules.ts`. */
export const hostSchema = z.strictObject({
  project: shortText(64).prefault('default'),
  baseUrl: baseUrl.prefault('http://127.0.0.1:4310'),
  adminUrl: orNull(adminUrl),
  listen: listenAddress.prefault('127.0.0.1:4310'),
  adminListen: listenAddress.prefault('127.0.0.1:4311'),
  data: folder.prefault('./latchkey-data'),
  database: orNull(database),
  trustedProxies: trustedProxies.prefault(0),
  mail: orNull(writtenMail),
  isolation: isolation.prefault('auto'),
  limits: hostLimits,
  compat: z
    .strictObject({
      errors: z.literal('platform').optional(),
      cors: z.literal('echo').optional(),
      dotPaths: z.literal('literal').optional(),
    })
    .prefault(nothing)
    .transform(({ errors, cors, dotPaths }) => ({
      errors: errors ?? ('problem' as const),
      cors: cors ?? ('own' as const),
      dotPaths: dotPaths ?? ('nested' as const),
    })),
  auth: accounts.prefault(nothing),
})

export type HostTable = z.output<typeof hostSchema>
