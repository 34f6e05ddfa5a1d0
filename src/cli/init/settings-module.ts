import { posix } from 'node:path'
import { maskCode } from './code/masked-code.js'
import type { Entry } from './entry.js'
import type { Facts } from './facts.js'
import type { Project } from './project.js'
import { nodeTypes } from './starters.js'

/** The module that exports the settings, in the folder of package.json, where the command `latchkey` looks for it. */
export interface SettingsModule {
  path: string
  /** What it exports the settings as. */
  exported: 'settings' | 'default' | 'module'
  /** The files to write, by path; none when the module is there already. */
  files: Readonly<Record<string, string>>
}

const settingsNames = ['latchkey.config.js', 'latchkey.config.mjs', 'latchkey.config.ts']

/**
 * The module that is there, or the one to write. Null where the compiled application could not import it.
 *
 * @param runsTypeScript whether this version of Node runs TypeScript files
 */
export function settingsModule(
  project: Project,
  facts: Facts,
  entry: Entry,
  runsTypeScript: boolean,
): SettingsModule | null {
  const existing = settingsNames.find((name) => project.kindOf(name) !== 'missing')
  if (existing !== undefined) {
    return { path: existing, exported: exportOf(project.read(existing) ?? ''), files: {} }
  }
  const language = entry.isTypeScript ? languageOf(facts, entry, runsTypeScript) : 'js'
  if (language === null) return null
  if (language === 'ts') {
    const text = typeScript(facts.compiler?.hasNodeTypes === true)
    return { path: 'latchkey.config.ts', exported: 'settings', files: { 'latchkey.config.ts': text } }
  }
  const isModule = facts.moduleType === 'module' || (facts.moduleType === null && isDetected(entry))
  const own = { 'latchkey.config.js': isModule ? javaScript : commonJs }
  const files = entry.isTypeScript ? { ...own, 'latchkey.config.d.ts': declaration } : own
  return { path: 'latchkey.config.js', exported: 'settings', files }
}

/** The path of the module as an import of the entry file names it. */
export function pathFromEntry(module: SettingsModule, entry: string, facts: Facts): string {
  const path = posix.relative(posix.dirname(entry), module.path)
  const relative = path.startsWith('.') ? path : `./${path}`
  if (!module.path.endsWith('.ts')) return relative
  const extension = extensionOfImports(facts, entry) ?? (facts.moduleType === 'module' ? '.js' : '')
  return relative.replace(/\.ts$/, extension)
}

/** How the file names TypeScript files that it imports, as its imports or tsconfig.json show; null when neither does. */
function extensionOfImports({ sources, compiler }: Facts, entry: string): string | null {
  const own = sources.find((source) => source.path === entry)?.imports ?? []
  const [neighbour] = own.map(({ specifier }) => specifier).filter((specifier) => specifier.startsWith('.'))
  if (neighbour !== undefined) return /\.[jt]s$/.exec(neighbour)?.[0] ?? ''
  return compiler === null || compiler.namesTypeScriptFiles ? '.ts' : null
}

/**
 * TypeScript where the compiler puts the module beside the application, or where Node runs both as they are. Else JavaScript
 * with a declaration, which every program finds by the same import, and which the command `latchkey` can load on every version
 * of Node. Null where neither works.
 */
function languageOf(facts: Facts, { path }: Entry, canRun: boolean): 'ts' | 'js' | null {
  const { compiler, moduleType } = facts
  const outDir = compiler?.outDir ?? null
  if (outDir === null) {
    return canRun && moduleType !== 'commonjs' && extensionOfImports(facts, path) === '.ts' ? 'ts' : 'js'
  }
  const rootDir = rootDirOf(compiler, path)
  if (rootDir === '.') return 'ts'
  // `../latchkey.config.js` must mean the same file before and after the compiler moved the application.
  return depthOf(outDir) === depthOf(rootDir) ? 'js' : null
}

/** Where the compiler puts the JavaScript of a file; null when it writes none. */
export function compiledPath({ compiler }: Facts, path: string): string | null {
  if (compiler === null || compiler.outDir === null) return null
  return posix.join(compiler.outDir, posix.relative(rootDirOf(compiler, path), path)).replace(/ts$/, 'js')
}

/** Without a setting, the first folder of the application stands for what all sources have in common. */
function rootDirOf(compiler: Facts['compiler'], path: string): string {
  return compiler?.rootDir ?? posix.dirname(path).split('/')[0] ?? '.'
}

/** Node strips types by itself from 22.18 and 23.6 on. */
export function runsTypeScript(nodeVersion: string): boolean {
  const [major = 0, minor = 0] = nodeVersion.split('.').map(Number)
  return major > 23 || (major === 23 && minor >= 6) || (major === 22 && minor >= 18)
}

function depthOf(folder: string): number {
  return folder === '.' ? 0 : folder.split('/').length
}

/** Node reads a `.js` file with import statements as a module where package.json does not say what it is. */
function isDetected({ syntax, path, isTypeScript }: Entry): boolean {
  return syntax === 'import' && !isTypeScript && path.endsWith('.js')
}

function exportOf(text: string): SettingsModule['exported'] {
  const named =
    /\bexport\s+(?:const|let|var|(?:async\s+)?function)\s+settings\b|\bexports\.settings\b|\bexport\s*\{[^}]*\bsettings\b/
  const masked = maskCode(text)
  if (named.test(masked)) return 'settings'
  return /\bmodule\.exports\s*=/.test(masked) ? 'module' : 'default'
}

const loading = `// Variables that are set already stay as they are.
if (existsSync('.env')) process.loadEnvFile('.env')
`
const comment = '// Settings of Latchkey: the application and the command `latchkey` both read them here.\n'
const values = `{
  // The address that browsers use. On http://localhost, mails go to a mailbox page. Elsewhere it must be https.
  baseUrl: process.env.APP_URL,
  JWT_ACCESS_TOKEN_SECRET: process.env.JWT_ACCESS_TOKEN_SECRET,
  JWT_REFRESH_TOKEN_SECRET: process.env.JWT_REFRESH_TOKEN_SECRET,
  // Requests below these paths need a signed-in user, an API token or a JWT.
  baseAPIRoutes: ['/api'],
  // Where a browser goes after signing in.
  redirectSuccessUrl: '/auth/account',
}
`
const typed = "/** @type {import('latchkey').LatchkeySettings} */\n"
const javaScript = `${comment}import { existsSync } from 'node:fs'\n\n${loading}\n${typed}export const settings = ${values}`
const commonJs = `${comment}const { existsSync } = require('node:fs')\n\n${loading}\n${typed}exports.settings = ${values}`
const declaration = `import type { LatchkeySettings } from 'latchkey'

export declare const settings: LatchkeySettings
`

function typeScript(hasNodeTypes: boolean): string {
  const reference = hasNodeTypes ? '' : nodeTypes
  const imports = "import { existsSync } from 'node:fs'\nimport type { LatchkeySettings } from 'latchkey'\n"
  return `${reference}${comment}${imports}\n${loading}\nexport const settings: LatchkeySettings = ${values}`
}
