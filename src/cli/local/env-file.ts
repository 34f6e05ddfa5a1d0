import { readFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { parseEnv } from 'node:util'
import type { Environment } from '../environment.js'
import { requireTrusted, statOrNull } from '../files/trusted-file.js'
import type { LocalPlace } from '../tool.js'
import { usage } from '../tool-error.js'

/**
 * Sets the variables of `.env` beside the settings module, or of `--env-file`, before the module runs. A variable that is set
 * stays.
 *
 * @throws {ToolError} usage, for a named file that is missing, and for one that another user owns or can write to
 */
export function loadEnvFile(environment: Environment, { config, envFile }: LocalPlace): void {
  const path = envFile === null ? join(dirname(config), '.env') : resolve(environment.folder, envFile)
  if (statOrNull(path) === null) {
    if (envFile === null) return
    throw usage(`There is no file ${path}. Correct --env-file.`)
  }
  requireTrusted(path, environment)
  environment.addVariables(parseEnv(readFileSync(path, 'utf8')))
}
