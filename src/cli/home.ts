import type { contract } from '../contract/contract.js'
import type { AnswerOf, BodyOf, FilterOf, ItemOf, PageOf } from '../contract/reading.js'
import type { Actor } from '../model/actor.js'
import type { DoctorReport } from '../model/doctor/report.js'
import type { ImportedAccount, ImportReport } from '../model/imported-account.js'
import type { Migrations } from '../model/migrations.js'

/**
 * What the commands ask of an application, wherever it is: behind its control API (remote) or in its opened store (local).
 * Times are ISO 8601 in UTC.
 *
 * A refusal rejects with an `AuthError` (local) or a `ToolError` (remote). `main` prints both alike, so commands catch neither.
 */
export interface Home {
  readonly mode: 'remote' | 'local'
  /**
   * Where a change is made, which is printed before it: `remote https://api.example.org as ann@example.org` or
   * `local sqlite:./latchkey.db`. A database URL is shown without its password.
   */
  readonly target: string
  describe(): Promise<HomeDescription>
  /** The space whose tokens and access settings these are. Null: an application, which is no space. */
  space(): Promise<string | null>
  /** That space, read. Null: an application. */
  readSpace(): Promise<SpaceSummary | null>

  createApiToken(token: BodyOf<Contract['apiTokens']['create']>): Promise<CreatedApiToken>
  /** Newest first. */
  listApiTokens(page: PageInput): Promise<PageOf<ApiTokenLine>>
  /** @throws `not_found` */
  removeApiToken(id: string): Promise<void>
  /** @throws `not_found` */
  rotateApiToken(id: string, rotation: BodyOf<Contract['apiTokens']['rotate']>): Promise<CreatedApiToken>

  readAccess(): Promise<AccessReport>
  /** Fetches a key set and stores nothing. */
  checkKeySet(url: string): Promise<KeySetCheck>
  /** Null: back to the URL of the settings. */
  setKeySet(url: string | null): Promise<AccessView>
  /** @throws `would_lock_out` when the list would not contain the caller's address, unless it is forced */
  allowNetwork(change: NetworkChange): Promise<AccessView>
  /** @throws `not_found`, `would_lock_out` */
  disallowNetwork(change: NetworkChange): Promise<void>

  /** Newest first. */
  listUsers(filter: UserFilter): Promise<PageOf<Account>>
  /** By id, or by any spelling of the address. Null when there is no such account. */
  findUser(addressOrId: string): Promise<Account | null>
  /** @throws `not_found` */
  readUser(id: string): Promise<UserReport>
  /** @throws `email_taken` */
  createUser(user: NewUser): Promise<Account>
  disableUser(id: string, options: BodyOf<Contract['users']['disable']>): Promise<Account>
  enableUser(id: string): Promise<Account>
  /** `confirm` repeats the address of the account. */
  deleteUser(id: string, confirm: string): Promise<void>
  /** Ends every session, and mails a link to set a new password, without which password sign-in is refused. */
  resetPassword(id: string): Promise<void>
  endUserSessions(id: string): Promise<void>
  removeTwoFactor(id: string): Promise<void>

  /** Newest first. */
  listAudit(filter: AuditQuery & PageInput): Promise<PageOf<AuditLine>>
  /** Every event of the filter, read page by page, with all fields that the log has, also those that this release does not know. */
  exportAudit(filter: AuditQuery): AsyncIterable<object>
  verifyAudit(): Promise<AuditVerdict>

  /** Gives back what the home holds open. */
  close(): Promise<void>
}

/** What only the owner of the database may do. */
export interface LocalHome extends Home {
  readonly mode: 'local'
  /** The setting `admin.emails`, canonical. Null: a space host, where any address may be given the right ADMIN. */
  readonly adminEmails: readonly string[] | null
  /** Without a password, an invitation is mailed. @throws `weak_password` */
  createAdmin(address: string, password: string | null): Promise<{ account: Account; created: boolean }>
  /** Creates an account for each record. Faults of single records stand in the report and stop nothing. */
  importUsers(records: AsyncIterable<unknown>): Promise<ImportReport>
  /** Every account with its password hash, as `importUsers` takes it. */
  exportUsers(): AsyncIterable<ImportedAccount>
}

/** The database of an application, which need not have tables yet. */
export interface LocalDatabase {
  /** As of a home. */
  readonly target: string
  /** What `migrate` would do. Only reads. */
  plan(): Promise<Migrations['pending']>
  migrate(): Promise<void>
}

/** What only a running application can answer. */
export interface RemoteHome extends Home {
  readonly mode: 'remote'
  /** Newest first. */
  listSessions(page: PageInput): Promise<PageOf<SessionLine>>
  endSession(id: string): Promise<void>
  listMail(filter: FilterOf<Contract['mail']['list']> & PageInput): Promise<PageOf<MailLine>>
  retryMail(id: string): Promise<void>
  dropMail(id: string): Promise<void>
  readDoctor(): Promise<DoctorReport>
  networkTarget(): Promise<NetworkTarget>
}

export interface PageInput {
  /** 1 to 200. Default: 50. */
  limit?: number
  /** The `nextCursor` of the page before. */
  cursor?: string
}

export interface HomeDescription {
  home: 'application' | 'host'
  /** Of the latchkey that runs there. */
  version: string
  /** The address of the application, without the path of the control API. */
  url: string
  /** Null in local mode, and for an admin token. */
  user: { id: string; email: string; name: string | null; right: string } | null
  /** Of a host. */
  project?: string
  /** Of a host: by name. To an admin token, those that it is for. */
  spaces?: readonly SpaceAddress[]
}

export interface SpaceSummary extends SpaceAddress {
  /** Names of its environment. */
  environment: readonly string[]
}

export interface SpaceAddress {
  name: string
  /** Null where the host does not say it. */
  url: string | null
  /** The number of the release in force; null: nothing is deployed. */
  release: number | null
}

type Contract = typeof contract

/** With the fields of the application beside those that are named. */
export type Account = ItemOf<Contract['users']['list']>

export type ApiTokenLine = ItemOf<Contract['apiTokens']['list']>
export type CreatedApiToken = AnswerOf<Contract['apiTokens']['create']>

export type AccessView = Pick<AnswerOf<Contract['access']['read']>, 'jwksUrl' | 'fixedJwksUrl' | 'allowList'>

export interface AccessReport extends AccessView {
  /** The caller's own address, and whether it may use the API. Null in local mode, which has none. */
  you: { ip: string; allowed: boolean } | null
  /** The state of the key set in force; null where it is not known. */
  keySet: AnswerOf<Contract['access']['read']>['keySet']
}

export type KeySetCheck = AnswerOf<Contract['access']['checkKeySet']>
export type NetworkChange = BodyOf<Contract['access']['allow']>

export type UserFilter = FilterOf<Contract['users']['list']> & PageInput
export type NewUser = BodyOf<Contract['users']['create']>

export interface UserReport {
  account: Account
  sessions: readonly SessionLine[]
  /** The last 50. */
  events: readonly AuditLine[]
}

export interface SessionLine extends Pick<ItemOf<Contract['sessions']['list']>, 'id' | 'userId' | 'ip' | 'createdAt'> {
  /** The address of the user, where the list is of several users. */
  email: string | null
  device: string | null
  lastSeenAt: string | null
}

export type MailLine = ItemOf<Contract['mail']['list']>

export type AuditQuery = FilterOf<Contract['audit']['list']>

/** An audit event. Its name may be one that only a newer release knows. */
export interface AuditLine extends Omit<ItemOf<Contract['audit']['list']>, 'actor'> {
  actor: Actor | null
}

export type AuditVerdict = AnswerOf<Contract['audit']['verify']>

/** How the checks of the network reach an application. */
export interface NetworkTarget {
  /** Where browsers find the auth routes: `https://api.example.org/auth`. */
  auth: string
  /** Headers that let the tool use the echo: a proof, or the saved sign-in. Made for each request. */
  credential(): Readonly<Record<string, string>>
  /** The installation of the opened store; null where the tool does not know it. */
  installationId: string | null
}
