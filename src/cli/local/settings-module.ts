import { dirname, extname } from 'node:path'
import { pathToFileURL } from 'node:url'
import { isObject } from '../../lib/json-object.js'
import type { Environment } from '../environment.js'
import { requireTrusted, statOrNull } from '../files/trusted-file.js'
import { usage } from '../tool-error.js'

/**
 * Refuses a settings module that must not run here: loading it runs it.
 *
 * @throws {ToolError} usage, for a missing module, for one that another user owns or can write to, and for TypeScript that
 *   this Node cannot run
 */
export function requireLoadable(path: string, environment: Environment): void {
  if (statOrNull(path) === null) throw usage(`There is no file ${path}. Correct --config.`)
  // Who can write to the folder can replace the module, and the modules that it imports.
  requireTrusted(dirname(path), environment)
  requireTrusted(path, environment)
  if (/^\.[cm]?ts$/.test(extname(path)) && !environment.stripsTypes) {
    throw usage(
      `${path} is TypeScript, which Node ${environment.nodeVersion} does not run. Use Node 22.18 or later, or a .js module.`,
    )
  }
}

/**
 * The settings that the module exports: as `settings` or `default`, or as a function that returns them.
 *
 * @throws {ToolError} usage, with the message of the module's own error
 */
export async function loadSettings(path: string): Promise<unknown> {
  try {
    const exported = settingsIn(await import(pathToFileURL(path).href))
    return typeof exported === 'function' ? await exported() : exported
  } catch (error) {
    const [reason] = (error instanceof Error ? error.message : String(error)).split('\n')
    throw usage(`${path} does not load: ${reason}`)
  }
}

function settingsIn(module: unknown): unknown {
  if (!isObject(module)) return null
  const { settings, default: main } = module
  if (settings !== undefined) return settings
  // A CommonJS module is the default export as a whole, which tools that compile to CommonJS nest once more.
  const isNested = isObject(main) && (main.settings !== undefined || main.default !== undefined)
  const found = isNested ? (main.settings ?? main.default) : main
  if (found === undefined) throw new Error('it exports neither "default" nor "settings".')
  return found
}
