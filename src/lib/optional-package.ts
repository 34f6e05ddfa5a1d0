import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { parseJsonObject } from './json-object.js'

/**
 * Loads an optional package. No bundler follows a `require` that `createRequire` made, so a build succeeds where the package
 * is missing, and where it is native code.
 *
 * The form of the example matters. `@vercel/nft`, by which Next.js and Vercel copy the files of a deployment, traces
 * `require('pg')` with a literal, of a `require` at the top of its module. A CommonJS bundle has no `import.meta.url`. webpack
 * writes the path on the build machine in its place: then the package is found beside the bundle.
 *
 * @throws what `require` throws
 * @example
 * const require = createRequire(import.meta.url ?? __filename)
 * const loadPg = () => requirePackage<Pg>('pg', () => require('pg'))
 */
export function requirePackage<T>(name: string, load: () => T): T {
  try {
    return load()
  } catch (error) {
    // A package that is there but fails to load keeps its own error.
    const isMissing = error instanceof Error && 'code' in error && error.code === 'MODULE_NOT_FOUND'
    if (typeof __filename !== 'string' || !isMissing) throw error
    return createRequire(__filename)(name)
  }
}

/** What an import of an optional package gives. Null: it is not installed. @throws what else the import throws */
export async function unlessMissing<T>(loaded: Promise<T>): Promise<T | null> {
  try {
    return await loaded
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ERR_MODULE_NOT_FOUND') return null
    throw error
  }
}

/**
 * Where an optional package is. Synchronous, loads nothing.
 *
 * @throws what `require.resolve` throws
 */
export function findPackage(name: string): string {
  try {
    return createRequire(import.meta.url).resolve(name)
  } catch (error) {
    if (typeof __filename !== 'string') throw error
    return createRequire(__filename).resolve(name)
  }
}

/**
 * Why an optional package cannot be used here, as an error's code; null when it can. Synchronous, loads nothing.
 *
 * @example packageFault('pg') // null, or 'MODULE_NOT_FOUND'
 */
export function packageFault(name: string): string | null {
  try {
    findPackage(name)
    return null
  } catch (error) {
    return error instanceof Error && 'code' in error ? String(error.code) : 'it cannot be found'
  }
}

/**
 * The version of an optional package: of the nearest `package.json` above its main file that has its name. null when the
 * package cannot be found, or its version cannot be read. Synchronous, loads nothing.
 *
 * @param find where the main file is
 */
export function packageVersion(name: string, find: (name: string) => string = findPackage): string | null {
  try {
    let folder = dirname(find(name))
    while (folder !== dirname(folder)) {
      const version = versionIn(folder, name)
      if (version !== null) return version
      folder = dirname(folder)
    }
    return null
  } catch {
    return null
  }
}

function versionIn(folder: string, name: string): string | null {
  try {
    const found = parseJsonObject(readFileSync(join(folder, 'package.json'), 'utf8'))
    return found?.name === name && typeof found.version === 'string' ? found.version : null
  } catch {
    return null
  }
}
