import { statSync } from 'node:fs'
import { join } from 'node:path'
import type { BuildOptions, Message } from 'esbuild'
import { releasePaths } from '../../model/release.js'
import { ToolError } from '../tool-error.js'
import type { Boundary } from './boundary.js'
import { createImportJudge } from './judge-imports.js'
import type { BundlePackages } from './packages.js'

export interface BundledCode {
  code: Uint8Array
  map: Uint8Array
  /** How many files it is made of. */
  modules: number
  /** Each with its file and line. */
  warnings: readonly string[]
}

/** CommonJS packages call `require` for modules of Node. */
const banner = `import { createRequire as createBundleRequire } from 'node:module';
var require = createBundleRequire(import.meta.url);`

/**
 * Bundles the application into one ES module. The same files give the same bytes.
 *
 * @param folder real path of the project
 * @param entry path within it
 * @param boundary where packages may lie
 * @throws {ToolError} exit code 1, with file and line of each error
 */
export async function bundleCode(
  esbuild: BundlePackages['esbuild'],
  folder: string,
  entry: string,
  boundary: Boundary,
): Promise<BundledCode> {
  const judge = createImportJudge(folder, boundary)
  const build = (imports: 'ajv' | 'all') =>
    esbuild.build({ ...optionsOf(folder, entry), plugins: [judge.plugin(imports)] }).catch((error: unknown) => {
      throw buildFailure(error)
    })
  const result = await build('ajv').catch(() => null)
  const refused = result && judge.refusedIn(result.metafile)
  if (result === null || refused !== null) {
    // Again, to name the line of the import. A pattern in `import()` has none.
    await build('all')
    throw refusal(folder, refused ?? entry)
  }
  const [code, map] = [releasePaths.code, releasePaths.map].map((name) => {
    return result.outputFiles.find(({ path }) => path === join(folder, name))?.contents
  })
  if (!code || !map) throw new Error('esbuild has written no bundle.')
  return { code, map, modules: Object.keys(result.metafile.inputs).length, warnings: result.warnings.flatMap(linesOf) }
}

function optionsOf(folder: string, entry: string) {
  const isTypeScript = statSync(join(folder, 'tsconfig.json'), { throwIfNoEntry: false })?.isFile()
  return {
    absWorkingDir: folder,
    entryPoints: [`./${entry}`],
    outfile: join(folder, releasePaths.code),
    bundle: true,
    write: false,
    metafile: true,
    platform: 'node',
    format: 'esm',
    target: 'node20',
    sourcemap: 'linked',
    sourcesContent: false,
    charset: 'utf8',
    logLevel: 'silent',
    banner: { js: banner },
    // ES modules have neither. A module that declares them keeps its own.
    define: { __dirname: 'import.meta.dirname', __filename: 'import.meta.filename' },
    loader: { '.hbs': 'text', '.html': 'text', '.css': 'text', '.md': 'text', '.txt': 'text' },
    // Without it, esbuild would take the settings of a folder above.
    ...(isTypeScript ? { tsconfig: join(folder, 'tsconfig.json') } : { tsconfigRaw: '{}' }),
  } as const satisfies BuildOptions
}

function refusal(folder: string, path: string): ToolError {
  const message = `${path} cannot be part of the bundle of ${folder}.`
  const cure = 'A release takes nothing but packages from outside its folder, and no native addon.'
  return new ToolError(1, 'bundle_failed', message, { lines: [cure] })
}

function buildFailure(error: unknown): unknown {
  if (!(error instanceof Error && 'errors' in error && Array.isArray(error.errors))) return error
  const messages: readonly Message[] = error.errors
  const most = 10
  const lines = messages.slice(0, most).flatMap(linesOf)
  if (messages.length > most) lines.push(`… and ${messages.length - most} more`)
  return new ToolError(1, 'bundle_failed', 'The application cannot be bundled.', { lines })
}

/** `index.js:3:8: Could not resolve "lodash"`, then notes, each on a line. */
function linesOf({ text, location, notes }: Message): string[] {
  const place = location ? `${location.file}:${location.line}:${location.column + 1}: ` : ''
  return [`${place}${text}`, ...notes.map((note) => `  ${note.text}`)]
}
