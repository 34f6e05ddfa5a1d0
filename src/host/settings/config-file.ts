import { lstat, readFile, stat } from 'node:fs/promises'
import { dirname, extname, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { SettingsError } from '../../errors.js'
import { parseJson } from '../../lib/json-object.js'
import { memberOf } from '../../lib/members.js'
import { hostConfigNames } from '../../model/home.js'

/**
 * Reads the settings of a host from a JSON file, or from a module that exports them as `default` or `settings`.
 *
 * @param path null: `latchkey.host.json`, `.js` or `.mjs` in this folder, else no settings at all
 * @returns what the file holds, unchecked
 * @throws {SettingsError} `config`, for a file that is missing, faulty, another user's, or open to changes by others
 */
export async function readConfig(path: string | null): Promise<unknown> {
  const file = path === null ? await findUsual() : resolve(path)
  if (file === null) return {}
  // Loading a module runs it, and who can write to its folder can replace it.
  for (const each of [dirname(file), file]) await requireTrusted(each)
  if (extname(file) === '.json') return readJson(file)
  if (/^\.[cm]?js$/.test(extname(file))) return loadModule(file)
  throw fault(`${file} must end in .json, .js or .mjs.`)
}

async function findUsual(): Promise<string | null> {
  for (const name of hostConfigNames) {
    const path = resolve(name)
    if ((await lstat(path).catch(() => null)) !== null) return path
  }
  return null
}

async function readJson(file: string): Promise<unknown> {
  const value = parseJson(await readFile(file, 'utf8'))
  if (value === undefined) throw fault(`${file} is not valid JSON.`)
  return value
}

async function loadModule(file: string): Promise<unknown> {
  const loaded: unknown = await import(pathToFileURL(file).href)
  const value = memberOf(loaded, 'default') ?? memberOf(loaded, 'settings')
  if (value === undefined) throw fault(`${file} must export its settings as default.`)
  return value
}

const rootId = 0
const writableByOthers = 0o022

async function requireTrusted(path: string): Promise<void> {
  const stats = await stat(path).catch(() => null)
  if (stats === null) throw fault(`There is no file ${path}. Correct --config.`)
  if (stats.uid !== rootId && stats.uid !== process.getuid?.()) throw fault(`${path} belongs to another user.`)
  if ((stats.mode & writableByOthers) !== 0) {
    throw fault(`Other users can write to ${path}. Run: chmod go-w '${path}'`)
  }
}

function fault(message: string): SettingsError {
  return new SettingsError([{ setting: 'config', message }])
}
