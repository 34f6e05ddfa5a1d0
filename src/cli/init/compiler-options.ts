import { posix } from 'node:path'
import { isObject, parseJsonObject } from '../../lib/json-object.js'
import { parseJsonWithComments } from './json-with-comments.js'
import type { Project } from './project.js'

/** What tsconfig.json says about the files that `init` writes. */
export interface CompilerOptions {
  /** Where the compiler puts JavaScript; null when it writes none, because another program runs the sources. */
  outDir: string | null
  /** The folder whose files end up in `outDir` itself. Null: the folder that all sources have in common. */
  rootDir: string | null
  /** Imports name TypeScript files by `.ts`. */
  namesTypeScriptFiles: boolean
  /** Import statements stay as they are, so a CommonJS file cannot have any. */
  isVerbatim: boolean
  /** The types of Node are there without a reference. */
  hasNodeTypes: boolean
}

/** Reads tsconfig.json and what it extends. Null when the project has none. */
export function readCompilerOptions(project: Project): CompilerOptions | null {
  const text = project.read('tsconfig.json')
  if (text === null) return null
  const options = mergedOptions(project, 'tsconfig.json')
  const emits = typeof options.outDir === 'string' && options.noEmit !== true
  const types = Array.isArray(options.types) ? options.types : []
  return {
    outDir: emits ? folderOf(options.outDir) : null,
    rootDir: typeof options.rootDir === 'string' ? folderOf(options.rootDir) : defaultRootDir(project),
    namesTypeScriptFiles:
      options.allowImportingTsExtensions === true || options.rewriteRelativeImportExtensions === true,
    isVerbatim: options.verbatimModuleSyntax === true,
    hasNodeTypes: types.includes('node') || types.includes('*'),
  }
}

/** `compilerOptions` over those of the files that it extends. Files that are missing add nothing. */
function mergedOptions(project: Project, path: string, depth = 0): Readonly<Record<string, unknown>> {
  const config = parseJsonWithComments(project.read(path) ?? '') ?? {}
  const bases = typeof config.extends === 'string' ? [config.extends] : config.extends
  const names = depth < 8 && Array.isArray(bases) ? bases.filter((name) => typeof name === 'string') : []
  const inherited = names.flatMap((name) => {
    const base = baseOf(project, path, name)
    return base === null ? [] : [mergedOptions(project, base, depth + 1)]
  })
  const own = isObject(config.compilerOptions) ? config.compilerOptions : {}
  return Object.assign({}, ...inherited, own)
}

function baseOf(project: Project, path: string, name: string): string | null {
  const place = name.startsWith('.') ? posix.join(posix.dirname(path), name) : `node_modules/${name}`
  const candidates = [place, `${place}.json`, `${place}/tsconfig.json`]
  return candidates.find((candidate) => project.read(candidate) !== null) ?? null
}

/** Since TypeScript 6 the folder of tsconfig.json. */
function defaultRootDir(project: Project): string | null {
  const version = parseJsonObject(project.read('node_modules/typescript/package.json') ?? '')?.version
  return Number.parseInt(String(version), 10) >= 6 ? '.' : null
}

/** `./dist/` is `dist`. The folder itself is `.`. */
function folderOf(path: unknown): string {
  return posix.join('.', String(path)).replace(/\/$/, '')
}
