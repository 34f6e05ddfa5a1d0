import { resolve as resolvePath } from 'node:path'
import type { Metafile, OnResolveArgs, OnResolveResult, PartialMessage, Plugin } from 'esbuild'
import { findPackage } from '../../lib/optional-package.js'
import { type Boundary, createPackageReach } from './boundary.js'
import { pathInside, realPath } from './inside.js'
import { isNativeAddon, packageOf } from './native-addons.js'

/** Marks imports that the plugin itself asks esbuild to resolve. */
const asked = Symbol('latchkey.asked')

/** Imports to look at: `ajv` alone, or all of them, which takes three times as long. */
const filters = { ajv: /^ajv(\/|$)/, all: /.*/ }

export interface ImportJudge {
  /**
   * Supplies `ajv`, which codehooks-js imports and does not bring. With `all` it also refuses native addons, and files outside the
   * folder that belong to no package within the boundary, at the line of their import.
   */
  plugin(imports: keyof typeof filters): Plugin
  /** The first file of a finished bundle that may not be in it. */
  refusedIn(bundle: Metafile): string | null
}

/** @param folder real path of the project */
export function createImportJudge(folder: string, boundary: Boundary): ImportJudge {
  const mayTake = createPackageReach(folder, boundary)
  const supplied = new Set<string>()
  const native = new Map<string, boolean>()

  function isNative(packageFolder: string): boolean {
    const known = native.get(packageFolder) ?? isNativeAddon(packageFolder)
    native.set(packageFolder, known)
    return known
  }

  const isOutside = (path: string) => pathInside(folder, path) === null && !supplied.has(path) && !mayTake(path)

  function isAddon(path: string): boolean {
    const owner = packageOf(path)
    return path.endsWith('.node') || (owner !== null && isNative(owner.folder))
  }

  function judge(args: OnResolveArgs, path: string): PartialMessage | null {
    if (supplied.has(args.importer)) supplied.add(path)
    if (isOutside(path)) return outsideFault({ folder, boundary, specifier: args.path, path })
    if (!isAddon(path)) return null
    const owner = packageOf(path)
    const name = owner?.name ?? args.path
    return {
      text: `${name} is a native addon, which a space cannot load.`,
      notes: [{ text: 'Use a package without native code.' }],
    }
  }

  return {
    plugin: (imports) => ({
      name: 'latchkey',
      setup({ onResolve, resolve }) {
        onResolve({ filter: filters[imports] }, async (args): Promise<OnResolveResult | undefined> => {
          if (args.pluginData === asked) return undefined
          const { path, importer, namespace, resolveDir, kind, with: attributes } = args
          const question = { importer, namespace, resolveDir, kind, with: attributes, pluginData: asked }
          const found = await resolve(path, question)
          // esbuild reports it itself, unless the import stands in a try block.
          if (found.errors.length > 0) return isMissingAjv(args) ? supplyAjv(path, supplied) : undefined
          if (found.external || found.namespace !== 'file') return undefined
          const fault = judge(args, realPath(found.path) ?? found.path)
          return fault ? { errors: [fault] } : undefined
        })
      },
    }),
    refusedIn({ inputs }) {
      const realOf = (input: string) => realPath(resolvePath(folder, input)) ?? input
      // What a supplied file imports is supplied with it. A set may grow while it is walked.
      const imported = new Set(Object.keys(inputs).filter((input) => supplied.has(realOf(input))))
      for (const input of imported) {
        supplied.add(realOf(input))
        for (const { path, external } of inputs[input]?.imports ?? []) if (!external) imported.add(path)
      }
      const files = Object.keys(inputs).filter((input) => !/^[\w-]{2,}:/.test(input))
      return files.map(realOf).find((path) => isOutside(path) || isAddon(path)) ?? null
    },
  }
}

function isMissingAjv({ path, importer }: OnResolveArgs): boolean {
  return (path === 'ajv' || path.startsWith('ajv/')) && packageOf(importer)?.name === 'codehooks-js'
}

function supplyAjv(name: string, supplied: Set<string>): OnResolveResult {
  try {
    const found = findPackage(name)
    const path = realPath(found) ?? found
    supplied.add(path)
    return { path }
  } catch {
    return { errors: [{ text: 'codehooks-js needs a package that it does not bring: npm install ajv@8' }] }
  }
}

function outsideFault(fault: { folder: string; boundary: Boundary; specifier: string; path: string }): PartialMessage {
  const { folder, boundary, specifier, path } = fault
  const [owner, limits] = [packageOf(path), boundaryNotes(folder, boundary)]
  if (!owner || pathInside(boundary.folder, path) !== null) {
    const cure =
      'A release takes nothing but packages from outside its folder. Copy the file into it, or name a folder that holds both: --dir'
    return { text: `"${specifier}" is ${path}, outside ${folder}.`, notes: [{ text: cure }, ...limits] }
  }
  const cure = `Install it in the project: npm install ${owner.name}, or name the folder above with --dir, and the file with --main.`
  return {
    text: `The package ${owner.name} is in ${owner.folder}, outside ${boundary.folder}.`,
    notes: [{ text: cure }, ...limits],
  }
}

function boundaryNotes(folder: string, { folder: from, sign, refused }: Boundary): { text: string }[] {
  if (refused) {
    return [
      {
        text: `${refused.folder} has ${refused.sign}, but no packages are taken from there: ${refused.why}. Put the workspace into a folder of its own.`,
      },
    ]
  }
  if (sign === null) return []
  const why = `the nearest folder with a lock file, workspaces or .git (${sign})`
  return [{ text: `Packages are taken from ${from === folder ? 'the project alone' : from}, ${why}.` }]
}
