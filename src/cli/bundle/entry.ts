import { readFileSync, statSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { parseJsonObject } from '../../lib/json-object.js'
import { usage } from '../tool-error.js'
import { pathInside, realPath } from './inside.js'

const extensions = ['.js', '.mjs', '.ts', '.mts', '.cjs', '.cts']

/**
 * The file that makes the application: `--main`, else `main` of `package.json`, else `index.js`, `index.mjs`, `index.ts`, …
 *
 * @param folder real path of the project
 * @returns its path within the folder
 * @throws {ToolError} exit code 2, when the file is missing or outside the folder
 */
export function findEntry(folder: string, main: string | null): string {
  if (main !== null) return named(folder, main, '--main names')
  const written = mainOfPackage(folder)
  if (written !== null) return named(folder, written, 'package.json names')
  const found = firstFile(extensions.map((extension) => join(folder, `index${extension}`)))
  if (found === null) throw usage(`${folder} has no index.js. Name the file that makes the application: --main app.js`)
  return within(folder, found, 'The project has')
}

function named(folder: string, main: string, naming: string): string {
  const path = resolve(folder, main)
  const found = firstFile([path, ...extensions.map((extension) => `${path}${extension}`), join(path, 'index.js')])
  if (found === null) throw usage(`${naming} ${main}, which is no file of ${folder}. Correct it, or use --main.`)
  return within(folder, found, naming)
}

function within(folder: string, path: string, naming: string): string {
  const inside = pathInside(folder, realPath(path) ?? path)
  if (inside === null) {
    throw usage(`${naming} ${path}, which is outside ${folder}.`, 'A release takes nothing from outside its folder.')
  }
  return inside
}

function firstFile(paths: readonly string[]): string | null {
  return paths.find((path) => statSync(path, { throwIfNoEntry: false })?.isFile()) ?? null
}

/** null without a `package.json` that can be read. */
function mainOfPackage(folder: string): string | null {
  try {
    const main = parseJsonObject(readFileSync(join(folder, 'package.json'), 'utf8'))?.main
    return typeof main === 'string' && main !== '' ? main : null
  } catch {
    return null
  }
}
