import { isObject, parseJsonObject } from '../../lib/json-object.js'
import type { FrameworkName } from './code/frameworks.js'
import { readSource, type SourceFile } from './code/source-file.js'
import { type CompilerOptions, readCompilerOptions } from './compiler-options.js'
import type { Project } from './project.js'

export type PackageManager = 'npm' | 'pnpm' | 'yarn' | 'bun'

/** What the folder says about the application. */
export interface Facts {
  /** Frameworks that package.json names, else `node`. */
  frameworks: readonly FrameworkName[]
  packageManager: PackageManager
  /** `type` of package.json. */
  moduleType: 'module' | 'commonjs' | null
  /** Names of all dependencies, development and peer ones included. */
  dependencies: ReadonlySet<string>
  scripts: ReadonlySet<string>
  /** `main` of package.json. */
  main: string | null
  isTypeScript: boolean
  /** Null without a tsconfig.json. */
  compiler: CompilerOptions | null
  /** The application's code, without tests, examples and configuration. */
  sources: readonly SourceFile[]
}

const isCode = /\.[cm]?[jt]s$/
const isNoApplication =
  /(?:^|\/)(?:tests?|__tests__|specs?|examples?|docs|scripts|migrations|e2e)\/|\.(?:test|spec|config|d)\.[cm]?[jt]s$/

/** Null without a package.json that holds an object. */
export function readFacts(project: Project): Facts | null {
  const manifest = parseJsonObject((project.read('package.json') ?? '').replace(/^\uFEFF/, ''))
  if (manifest === null) return null
  const dependencies = new Set(
    ['dependencies', 'devDependencies', 'peerDependencies', 'optionalDependencies'].flatMap((name) =>
      keysOf(manifest[name]),
    ),
  )
  const named = (['express', 'fastify', 'hono'] as const).filter((name) => dependencies.has(name))
  const compiler = readCompilerOptions(project)
  return {
    frameworks: named.length > 0 ? named : ['node'],
    packageManager: packageManagerOf(manifest.packageManager, project.lockFiles),
    moduleType: manifest.type === 'module' || manifest.type === 'commonjs' ? manifest.type : null,
    dependencies,
    scripts: new Set(keysOf(manifest.scripts)),
    main: typeof manifest.main === 'string' ? manifest.main : null,
    isTypeScript: compiler !== null || dependencies.has('typescript'),
    compiler,
    sources: readSources(project),
  }
}

function readSources(project: Project): SourceFile[] {
  const paths = project.paths.filter((path) => isCode.test(path) && !isNoApplication.test(path))
  return paths.flatMap((path) => {
    const text = project.read(path)
    return text === null ? [] : [readSource(path, text)]
  })
}

function packageManagerOf(field: unknown, lockFiles: readonly string[]): PackageManager {
  const wanted = typeof field === 'string' ? field : (lockFiles[0] ?? '')
  return (['pnpm', 'yarn', 'bun'] as const).find((name) => wanted.startsWith(name)) ?? 'npm'
}

function keysOf(value: unknown): string[] {
  return isObject(value) ? Object.keys(value) : []
}
