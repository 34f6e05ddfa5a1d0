import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Fields, fieldsIn, readFields, textIn } from '../../lib/json-fields.js'
import { parseJsonObject } from '../../lib/json-object.js'
import { type Environment, variable } from '../environment.js'
import { ToolError } from '../tool-error.js'
import { withFileLock } from './file-lock.js'
import { statOrNull } from './trusted-file.js'

const version = 1

/** A saved sign-in: a session in token mode. Times are ISO 8601 in UTC. */
export interface SignIn {
  email: string
  accessToken: string
  accessTokenExpiresAt: string
  refreshToken: string
}

/** The saved sign-ins of this user, one for each control API. */
export interface Credentials {
  read(api: string): SignIn | null
  /** Saves a sign-in; null forgets it. */
  save(api: string, signIn: SignIn | null): Promise<void>
  /**
   * Reads the sign-in again, and saves what the step makes of it, while no other tool does the same. So of two tools that
   * refresh at once the second finds the tokens of the first.
   */
  replace(api: string, step: (signIn: SignIn | null) => Promise<SignIn | null>): Promise<SignIn | null>
}

/**
 * Sign-ins in `credentials.json` of the user's configuration folder: mode 0600 in a folder of mode 0700, written by rename
 * under a lock file.
 *
 * @throws {ToolError} from its calls, with the remedy: for wider modes, another owner, a broken file, a newer version
 */
export function createCredentials(environment: Environment): Credentials {
  const folder = configurationFolder(environment)
  const path = join(folder, 'credentials.json')

  function readAll(): Readonly<Record<string, SignIn>> {
    refuseOpen(folder, 0o700, environment)
    refuseOpen(path, 0o600, environment)
    return statOrNull(path) === null ? {} : parse(path, readFileSync(path, 'utf8'))
  }

  function write(api: string, signIn: SignIn | null): void {
    const { [api]: _former, ...others } = readAll()
    const signIns = signIn === null ? others : { ...others, [api]: signIn }
    const draft = `${path}.${process.pid}`
    try {
      writeFileSync(draft, `${JSON.stringify({ version, signIns }, null, 2)}\n`, { mode: 0o600, flag: 'w' })
      renameSync(draft, path)
    } finally {
      rmSync(draft, { force: true })
    }
  }

  async function locked<T>(step: () => Promise<T>): Promise<T> {
    mkdirSync(folder, { recursive: true, mode: 0o700 })
    refuseOpen(folder, 0o700, environment)
    return withFileLock(`${path}.lock`, step)
  }

  return {
    read: (api) => readAll()[api] ?? null,
    save: (api, signIn) => locked(async () => write(api, signIn)),
    replace: (api, step) =>
      locked(async () => {
        const signIn = await step(readAll()[api] ?? null)
        write(api, signIn)
        return signIn
      }),
  }
}

function configurationFolder(environment: Environment): string {
  const { platform, homeFolder } = environment
  if (platform === 'win32') return join(variable(environment, 'APPDATA') ?? homeFolder, 'latchkey')
  if (platform === 'darwin') return join(homeFolder, 'Library', 'Application Support', 'latchkey')
  return join(variable(environment, 'XDG_CONFIG_HOME') ?? join(homeFolder, '.config'), 'latchkey')
}

/** Refuses a file or folder of another owner, or with rights beyond `mode`. One that does not exist is fine. */
function refuseOpen(path: string, mode: number, environment: Environment): void {
  const stats = statOrNull(path)
  if (stats === null || environment.userId === null) return
  const fault = (message: string) => new ToolError(2, 'credentials_unsafe', message)
  if (stats.isSymbolicLink()) throw fault(`${path} is a link. Replace it by a file or folder of your own.`)
  if (stats.uid !== environment.userId) throw fault(`${path} belongs to another user. Remove it and sign in again.`)
  if ((stats.mode & 0o777 & ~mode) !== 0) {
    throw fault(`Others can open ${path}. Run: chmod ${mode.toString(8)} '${path}'`)
  }
}

function parse(path: string, text: string): Readonly<Record<string, SignIn>> {
  const remedy = 'Remove it and sign in again with: latchkey login'
  const written = parseJsonObject(text)?.version
  if (typeof written === 'number' && written > version) {
    throw new ToolError(2, 'credentials_newer', `A newer latchkey wrote ${path}. Upgrade this one, or remove the file.`)
  }
  const signIns = readFields(text, (fields) => {
    const all = fieldsIn(fields, 'signIns')
    return Object.fromEntries(Object.keys(all).map((api) => [api, signInOf(fieldsIn(all, api))]))
  })
  if (signIns === null) throw new ToolError(2, 'credentials_broken', `${path} is damaged. ${remedy}`)
  return signIns
}

function signInOf(fields: Fields): SignIn {
  return {
    email: textIn(fields, 'email'),
    accessToken: textIn(fields, 'accessToken'),
    accessTokenExpiresAt: textIn(fields, 'accessTokenExpiresAt'),
    refreshToken: textIn(fields, 'refreshToken'),
  }
}
