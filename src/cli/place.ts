import { basename, join, resolve } from 'node:path'
import { parseAddress } from './address.js'
import { type Environment, variable } from './environment.js'
import { configIn, findProjectFile, hostConfigIn } from './files/project-file.js'
import { requireSpaceName } from './space-name.js'
import type { GlobalOptions, Place } from './tool.js'
import { usage } from './tool-error.js'

const defaultSpace = 'dev'

/**
 * Decides between remote and local; the first that applies: `--config`, `--url` or LATCHKEY_URL, `latchkey.json` here or
 * above, `latchkey.config.*` or `latchkey.host.*` here.
 *
 * @throws {ToolError} usage, which names both ways when none applies
 */
export function choosePlace(environment: Environment, options: GlobalOptions): Place {
  const { config, url, envFile = null } = options
  if (config !== undefined && url !== undefined) throw usage('Give either --config or --url, not both.')
  if (config !== undefined) return localAt(resolve(environment.folder, config), envFile)

  const given = url ?? variable(environment, 'LATCHKEY_URL')
  if (given !== null) return { mode: 'remote', address: parseAddress(given), file: null }

  const { file, refused } = findProjectFile(environment)
  if (file !== null) return { mode: 'remote', address: parseAddress(file.url), file: file.path }

  const [here, host] = [configIn(environment.folder), hostConfigIn(environment.folder)]
  if (here !== null && host !== null) throw usage(`This folder has both ${here} and ${host}. Name one with --config.`)
  const found = here ?? host
  if (found !== null) return localAt(join(environment.folder, found), envFile)

  throw usage(
    'Say where the application is:',
    '  --url https://api.example.org    remote, over its control API, after latchkey login',
    '  --config latchkey.config.js      local, in its database',
    ...(refused === null ? [] : [`The search for latchkey.json ended early. ${refused}`]),
  )
}

/** Only a host has settings in JSON, and `latchkey.host.*` is named after it. */
function localAt(config: string, envFile: string | null): Place {
  const isHost = config.endsWith('.json') || basename(config).startsWith('latchkey.host.')
  return { mode: 'local', of: isHost ? 'host' : 'application', config, envFile }
}

/**
 * The space of a host that a command works on: `--space`, LATCHKEY_SPACE, `latchkey.json`, else `dev`.
 *
 * @throws {ToolError} usage, for a name that no space can have
 */
export function chooseSpace(environment: Environment, { space }: Pick<GlobalOptions, 'space'>): string {
  if (space !== undefined) return requireSpaceName(space, '--space')
  const set = variable(environment, 'LATCHKEY_SPACE')
  if (set !== null) return requireSpaceName(set, 'LATCHKEY_SPACE')
  const file = findProjectFile(environment, { besideConfig: true }).file
  return file?.space == null ? defaultSpace : requireSpaceName(file.space, file.path)
}
