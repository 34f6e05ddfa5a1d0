import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { parseJsonObject } from '../../lib/json-object.js'
import { hostConfigNames } from '../../model/home.js'
import { type Address, parseAddress } from '../address.js'
import type { Environment } from '../environment.js'
import { usage } from '../tool-error.js'
import { distrustOf, statOrNull } from './trusted-file.js'

const fileName = 'latchkey.json'
const configNames = ['latchkey.config.js', 'latchkey.config.mjs', 'latchkey.config.ts']

/** `latchkey.json`: where the application of this project is. It never holds a secret. */
export interface ProjectFile {
  path: string
  url: string
  /** Of a space host; null: none is chosen. */
  space: string | null
}

/** What the search came to. `refused` says why it did not go on. */
export interface ProjectSearch {
  file: ProjectFile | null
  refused: string | null
}

/**
 * Looks for `latchkey.json` in this folder and above. The search ends at the first folder with `.git`, `latchkey.config.*`
 * or `latchkey.host.*`, and at the home folder. It reads nothing that another user than root owns or may write to: such a file could lead the tool
 * to a server of theirs.
 *
 * @param besideConfig whether a folder may have both files, because the place is known already
 * @throws {ToolError} usage, for a folder that has both files and for a file that is no JSON object with a `url`
 */
export function findProjectFile(environment: Environment, { besideConfig = false } = {}): ProjectSearch {
  for (let folder = environment.folder; ; folder = dirname(folder)) {
    const untrusted = distrustOf(folder, environment)
    if (untrusted !== null) return { file: null, refused: untrusted }

    const path = join(folder, fileName)
    const config = configIn(folder)
    if (statOrNull(path) !== null) {
      if (config !== null && !besideConfig)
        throw usage(`${folder} has both ${fileName} and ${config}. Give --url or --config.`)
      const refused = distrustOf(path, environment)
      return refused === null ? { file: readProjectFile(path), refused: null } : { file: null, refused }
    }
    const isLast = folder === environment.homeFolder || folder === dirname(folder)
    if (isLast || config !== null || hostConfigIn(folder) !== null || statOrNull(join(folder, '.git')) !== null)
      return { file: null, refused: null }
  }
}

/** The name of the settings of a space host in a folder. */
export function hostConfigIn(folder: string): string | null {
  return hostConfigNames.find((name) => statOrNull(join(folder, name)) !== null) ?? null
}

/** The name of the settings module in a folder. */
export function configIn(folder: string): string | null {
  return configNames.find((name) => statOrNull(join(folder, name)) !== null) ?? null
}

/**
 * Writes `latchkey.json` in the current folder. One that is there stays. Beside a settings module none is written, because
 * where both are, commands ask which of them to use.
 *
 * @returns a sentence for the user; null when a file was there already
 */
export function writeProjectFile(environment: Environment, url: string): string | null {
  const config = configIn(environment.folder)
  if (config !== null) return `Commands in this folder use ${config}. For this application add: --url ${url}`
  const path = join(environment.folder, fileName)
  if (statOrNull(path) !== null) return null
  writeFileSync(path, `${JSON.stringify({ url }, null, 2)}\n`, { flag: 'wx', mode: 0o644 })
  return `Wrote ${fileName}, so that commands in this folder use this application.`
}

/**
 * Chooses the space of this folder in its `latchkey.json`, or the one above, or a new one. Written by rename.
 *
 * @returns the path of the file
 * @throws {ToolError} usage, for a file of another host
 */
export function writeSpace(environment: Environment, { site, api }: Address, space: string): string {
  const { file, refused } = findProjectFile(environment, { besideConfig: true })
  if (refused !== null) throw usage(refused, 'Nothing was written.')
  if (file !== null && parseAddress(file.url).api !== api) {
    throw usage(`${file.path} is of another application: ${file.url}. Work in a folder of its own, or remove it.`)
  }
  const path = file?.path ?? join(environment.folder, fileName)
  const former = file === null ? { url: site } : parseJsonObject(readFileSync(path, 'utf8'))
  const draft = `${path}.${process.pid}`
  try {
    writeFileSync(draft, `${JSON.stringify({ ...former, space }, null, 2)}\n`, { flag: 'wx', mode: 0o644 })
    renameSync(draft, path)
  } finally {
    rmSync(draft, { force: true })
  }
  return path
}

function readProjectFile(path: string): ProjectFile {
  const { url, space = null } = parseJsonObject(readFileSync(path, 'utf8')) ?? {}
  if (typeof url !== 'string') throw usage(`${path} is no JSON object with a "url". Correct it, or use --url.`)
  if (space !== null && typeof space !== 'string') throw usage(`The "space" of ${path} is no text. Correct it.`)
  return { path, url, space }
}
