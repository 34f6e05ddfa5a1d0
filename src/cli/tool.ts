import type { Topic } from '../model/doctor/report.js'
import type { HomeName } from '../model/home.js'
import type { Address } from './address.js'
import type { Environment } from './environment.js'
import type { Home, LocalDatabase, LocalHome, RemoteHome } from './home.js'
import type { AdminTokenCalls, HostHome, LocalHostHome } from './host-home.js'
import type { Output } from './output.js'
import type { Prompts } from './prompts.js'

/** Options that every command takes. */
export interface GlobalOptions {
  config?: string
  envFile?: string
  url?: string
  /** Of a space host. */
  space?: string
  /** Of a space host; `-`: from stdin. */
  admintoken?: string
  json?: boolean
  yes?: boolean
}

/** What the tool examines on the machine of an application or a host. */
export interface Examined {
  home: HomeName
  /** The settings as `init` takes them. */
  input: unknown
  /** Further checks. */
  topics: readonly Topic[]
}

/** Where the tool works: through a control API, or in the store that a settings module names. */
export type Place = RemotePlace | LocalPlace

export interface RemotePlace {
  mode: 'remote'
  address: Address
  /** The `latchkey.json` that names the URL. Null: the user gave it. */
  file: string | null
}

/** `config`: the absolute path of the settings. `of`: whether they configure an application or a host. `envFile`: as given. */
export interface LocalPlace {
  mode: 'local'
  of: 'application' | 'host'
  config: string
  envFile: string | null
}

/** What a command works with. Nothing is opened, loaded or asked before the command calls for it. */
export interface Tool {
  readonly environment: Environment
  readonly options: GlobalOptions
  readonly output: Output
  readonly prompts: Prompts
  /** Remote or local, as options, environment and files say. @throws {ToolError} usage */
  place(): Place
  /**
   * Opens the application where it is. `main` closes it.
   *
   * @throws {ToolError} `not_signed_in`, usage
   */
  home(): Promise<Home>
  /** The same, before a change: prints the target on stderr. */
  homeToChange(): Promise<Home>
  /** The same for commands that need the running application. @throws {ToolError} `not_here` in local mode */
  remoteHome(): Promise<RemoteHome>
  remoteHomeToChange(): Promise<RemoteHome>
  /**
   * The space host, for commands that only a host has. Commands that admin tokens are for use one when it is given.
   *
   * @throws {ToolError} `not_here` for an application and in local mode; `not_signed_in`, usage
   */
  hostHome(): Promise<HostHome>
  hostHomeToChange(): Promise<HostHome>
  /** The admin tokens of a space host, remote or in its folder. @throws {ToolError} as `hostHome` */
  adminTokens(): Promise<AdminTokenCalls>
  adminTokensToChange(): Promise<AdminTokenCalls>
  /** A space host in its folder. @throws {ToolError} `not_here` in remote mode and for an application */
  localHostToChange(): Promise<LocalHostHome>
  /** What `doctor` judges here. @throws {ToolError} `not_here` in remote mode */
  examined(): Promise<Examined>
  /** The same for commands of the owner. @throws {ToolError} `not_here` in remote mode */
  localHomeToChange(): Promise<LocalHome>
  /** The database without opening it. @throws {ToolError} `not_here` in remote mode */
  localDatabase(): Promise<LocalDatabase>
  /** Sign-in and sign-out. */
  account(): Promise<ToolAccount>
}

/** The saved sign-in at one application. */
export interface ToolAccount {
  /** The URL as given, or of the place that options and files name. @throws {ToolError} usage */
  address(url?: string): Address
  /** Has an administrator approve the sign-in on a page, and saves it. Gives the address that signed in. */
  signInByApproval(address: Address, browser: boolean): Promise<string>
  signInByPassword(address: Address, given: PasswordOptions): Promise<string>
  /** Ends the session and forgets it. False: the server could not be asked to end it. */
  signOut(address: Address): Promise<boolean>
}

export interface PasswordOptions {
  email?: string
  /** `-`: from stdin. Left out: asked for. */
  password?: string
  /** Of the second factor. */
  code?: string
}
