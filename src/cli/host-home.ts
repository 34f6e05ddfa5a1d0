import type { contract } from '../contract/contract.js'
import type { AnswerOf, BodyOf, ItemOf, PageOf } from '../contract/reading.js'
import type { KeyRotation, KeyRotationInput } from '../host/tool/calls.js'
import type { Right } from '../model/right.js'
import type { DataCalls } from './collection-calls.js'
import type { HomeDescription, LocalHome, PageInput } from './home.js'

/**
 * What the commands ask of a space host besides what every home has. Names are those of the routes; times are ISO 8601 in UTC.
 *
 * A refusal rejects with a `ToolError`, which `main` prints.
 */
export interface HostHome extends SpaceCalls, DataCalls, BackupCalls, AdminTokenCalls {
  /** The space that options, environment and files choose. @throws {ToolError} usage */
  space(): string
  describe(): Promise<HomeDescription>

  /** By name. */
  listSpaces(page: PageInput): Promise<PageOf<SpaceLine>>
  /** @throws `space_not_found` */
  readSpace(name: string): Promise<SpaceLine>
  /** @throws `space_exists` */
  createSpace(name: string): Promise<SpaceLine>
  /** `confirm` repeats the name. @throws `space_not_found`, `space_busy` */
  removeSpace(name: string, confirm: string): Promise<void>

  listProjectUsers(): Promise<readonly ProjectUserLine[]>
  grantRight(email: string, right: Right): Promise<ProjectUserLine>
  /** @throws `not_found`, `last_admin` */
  changeRight(id: string, right: Right): Promise<ProjectUserLine>
  /** Resolves to the team tokens that this person made. `confirm` repeats the address. @throws `not_found`, `last_admin` */
  removeProjectUser(id: string, confirm: string): Promise<readonly AdminTokenLine[]>

  listTeams(): Promise<readonly Team[]>
  createTeam(team: { name: string; right: Right }): Promise<Team>
  changeTeam(id: string, changes: { name?: string; right?: Right }): Promise<Team>
  /** `confirm` repeats the name. */
  removeTeam(id: string, confirm: string): Promise<void>
  addTeamMember(id: string, email: string): Promise<Team>
  /** Resolves to the team tokens that this person made. */
  removeTeamMember(id: string, userId: string): Promise<readonly AdminTokenLine[]>

  createAdminToken(token: NewAdminToken): Promise<CreatedAdminToken>
}

/** The admin tokens of the project: through the control API of the host, or in its folder. */
export interface AdminTokenCalls {
  /** As of every home, printed before a change. */
  readonly target: string
  /** Newest first. */
  listAdminTokens(): Promise<readonly AdminTokenLine[]>
  /** @throws `not_found` */
  removeAdminToken(id: string): Promise<void>
  /** All of the project in one step. Resolves to how many there were. */
  removeAllAdminTokens(): Promise<number>
}

/** A space host in its folder, for the owner of the machine. What concerns one space rejects with `not_here`. */
export interface LocalHostHome extends LocalHome, AdminTokenCalls {
  readonly target: string
  /** Wraps the data keys of all spaces under the first master key. A `master.key` of the host gets that key as a new line. */
  rotateKeys(rotation: KeyRotationInput): Promise<KeyRotation>
}

/** Calls on the chosen space. */
export interface SpaceCalls {
  /** By name. */
  listVariables(): Promise<readonly Variable[]>
  setVariable(variable: { name: string; value: string; encrypted: boolean }): Promise<void>
  /** @throws `not_found` */
  removeVariable(name: string): Promise<void>

  /** Newest first. */
  listReleases(): Promise<readonly Release[]>
  /** @throws the fault of the release, which leaves the former one in force */
  deploy(upload: Upload): Promise<Deployed>
  /** @throws `not_found`, and the fault of the release */
  activate(number: number, onStep: OnStep): Promise<Deployed>
  /** `confirm` repeats the name of the space. @throws `not_found` when nothing is deployed */
  undeploy(confirm: string): Promise<void>
  readLog(query: LogQuery): AsyncIterable<LogLine>
  /** Ends the change that a space is going through. @throws `not_found` when no change is under way */
  takeOver(): Promise<EndedWork>
}

/** A change of a space that was ended. `by`: kind and id of who made it. */
export interface EndedWork {
  kind: string
  by: string | null
  since: string
}

/** Backups of the chosen space. */
export interface BackupCalls {
  /** @throws `answer_cut` while the bytes arrive */
  backUp(): Promise<ArrivingBackup>
  /** @throws `archive_invalid`, and what else the archive is refused for; nothing was changed then */
  restore(upload: RestoreUpload): Promise<Restored>
  /** @throws `not_found` when nothing is kept */
  undoRestore(): Promise<void>
}

/** `name`: as the host would call the file. */
export interface ArrivingBackup {
  name: string
  collections: number
  documents: number
  bytes: AsyncIterable<Uint8Array>
}

export interface RestoreUpload {
  /** The archive. Called again when the credential had to be renewed. */
  open(): AsyncIterable<Uint8Array>
  size: number
  /** The name of the space. For an archive of another space also that one's, behind a comma. */
  confirm?: string
  verify: boolean
  release: boolean
  settings: boolean
  foreign: boolean
  onSent(bytes: number): void
  /** `field`: an index is built. */
  onStep(step: { processed: number; of: number; field: string | null }): void
}

export interface Restored {
  time: string
  collections: number
  documents: number
  pairs: number
  undoUntil: string | null
  release: number | null
  setAgain: { environment: readonly string[]; apiTokens: readonly string[] }
  warnings: readonly string[]
}

type Contract = typeof contract

export type SpaceLine = Pick<
  ItemOf<Contract['spaces']['list']>,
  'name' | 'url' | 'createdAt' | 'release' | 'state' | 'memoryBytes' | 'restarts'
>
export type ProjectUserLine = ItemOf<Contract['projectUsers']['list']>
export type Team = ItemOf<Contract['teams']['list']>

export type NewAdminToken = BodyOf<Contract['adminTokens']['create']>
export type AdminTokenLine = ItemOf<Contract['adminTokens']['list']>
export type CreatedAdminToken = AnswerOf<Contract['adminTokens']['create']>

export type Variable = ItemOf<Contract['environment']['list']>
/** Who changed something: the id of a user or an admin token. */
export type ActorLine = NonNullable<Variable['setBy']>

export type Release = Pick<
  ItemOf<Contract['releases']['list']>,
  'number' | 'state' | 'bytes' | 'git' | 'dirty' | 'author' | 'createdAt' | 'fault'
>

/** A part of a deploy that is done: `uploaded`, `started` or `serving`. */
export interface DeployStep {
  step: string
  ms: number
}

export type OnStep = (step: DeployStep) => void

export interface Upload {
  /** tar.gz */
  archive: Buffer
  git: { hash: string; branch: string | null; dirty: boolean | null } | null
  /** Whether to stay until the release serves. Without, the host goes on alone once the upload is whole. */
  wait: boolean
  onSent(bytes: number): void
  onStep: OnStep
}

export interface Deployed {
  /** Null: it was not waited for. */
  release: number | null
  warnings: readonly string[]
}

export interface LogQuery {
  follow: boolean
  since?: string
  level?: string
}

export interface LogLine {
  at: string
  level: string
  text: string
}
