import { hasMethods } from '../lib/members.js'
import { either, foreign, settled, text } from './field.js'

/** Where the store keeps its rows. */
export type Database =
  | { kind: 'sqlite' /** `:memory:` or a file path */; file: string }
  | { kind: 'postgres' | 'mysql'; url: string }
  | { kind: 'dialect' /** a Kysely dialect */; dialect: unknown }
  | { kind: 'datastore'; datastore: CodehooksDatastore }

/** The members that tell a Kysely dialect from other objects. */
export interface KyselyDialect {
  createDriver(): unknown
  createQueryCompiler(): unknown
}

/** The members that tell a codehooks `Datastore` from other objects. */
export interface CodehooksDatastore {
  open(): Promise<unknown>
}

const sentence =
  'must be sqlite::memory:, sqlite:./file, sqlite:/file, a postgres:, mysql: or mariadb: URL, a Kysely dialect or a codehooks Datastore'

const databaseUrl = text(sentence, parseDatabaseUrl)
const databaseObject = foreign<unknown>(sentence, (value) => parseDatabaseObject(value) !== null).transform(
  (value, context): Database => settled(parseDatabaseObject(value), sentence, context),
)

export const database = either<string | KyselyDialect | CodehooksDatastore, Database>((value) =>
  typeof value === 'string' ? databaseUrl : databaseObject,
)

function parseDatabaseObject(value: unknown): Database | null {
  if (hasMethods(value, ['createDriver', 'createQueryCompiler'])) return { kind: 'dialect', dialect: value }
  return isDatastore(value) ? { kind: 'datastore', datastore: value } : null
}

function isDatastore(value: unknown): value is CodehooksDatastore {
  return hasMethods(value, ['open'])
}

function parseDatabaseUrl(text: string): Database | null {
  const [, scheme, rest] = /^([a-z]+):(\P{Cc}+)$/u.exec(text) ?? []
  if (scheme === undefined || rest === undefined) return null
  if (scheme === 'sqlite')
    return /^\/\/|^:(?!memory:$)|^memory:$|^\s|\s$/.test(rest) ? null : { kind: 'sqlite', file: rest }

  const kind = { postgres: 'postgres', postgresql: 'postgres', mysql: 'mysql', mariadb: 'mysql' } as const
  if (!Object.hasOwn(kind, scheme) || !rest.startsWith('//') || !URL.canParse(text)) return null
  return { kind: scheme.startsWith('postgres') ? 'postgres' : 'mysql', url: text }
}
