import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import ts from 'typescript'
import { onTestFinished } from 'vitest'
import { testSettings } from '../../src/testing.js'

const root = fileURLToPath(new URL('../..', import.meta.url))

/** The folder of an application with Latchkey, as it was built, and these packages of ours in its node_modules. It goes when the test ends. */
export async function applicationFolder(...packages: readonly string[]): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'latchkey-app-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  await writeFile(join(folder, 'package.json'), '{ "type": "module" }')
  await link(folder, 'latchkey', root)
  for (const name of ['better-sqlite3', ...packages]) await link(folder, name, join(root, 'node_modules', name))
  return folder
}

async function link(folder: string, name: string, path: string): Promise<void> {
  const target = join(folder, 'node_modules', name)
  await mkdir(dirname(target), { recursive: true })
  await symlink(path, target)
}

/** Writes texts into the folder, by their paths in it. */
export async function writeFiles(folder: string, files: Readonly<Record<string, string>>): Promise<void> {
  for (const [name, text] of Object.entries(files)) {
    await mkdir(dirname(join(folder, name)), { recursive: true })
    await writeFile(join(folder, name), text)
  }
}

/** Two secrets, as an application has them in its environment. */
export function secretsForEnvironment(): Record<string, string> {
  const { JWT_ACCESS_TOKEN_SECRET, JWT_REFRESH_TOKEN_SECRET } = testSettings()
  return {
    JWT_ACCESS_TOKEN_SECRET: String(JWT_ACCESS_TOKEN_SECRET),
    JWT_REFRESH_TOKEN_SECRET: String(JWT_REFRESH_TOKEN_SECRET),
  }
}

/** What strict TypeScript says about these files of the folder and about our declarations; those of other packages are not our subject. */
export function strictFaults(folder: string, files: readonly string[], modules: ts.CompilerOptions): string[] {
  const options = { noEmit: true, strict: true, target: ts.ScriptTarget.ES2023, types: ['node'], ...modules }
  const host = ts.createCompilerHost(options)
  host.getCurrentDirectory = () => folder
  const names = files.map((file) => join(folder, file))
  const program = ts.createProgram(names, options, host)
  const ours = program
    .getSourceFiles()
    .filter(({ fileName }) => names.includes(fileName) || fileName.startsWith(join(root, 'dist/')))
  const found = ours.flatMap((file) => [
    ...program.getSyntacticDiagnostics(file),
    ...program.getSemanticDiagnostics(file),
  ])
  return textsOf([...program.getOptionsDiagnostics(), ...program.getGlobalDiagnostics(), ...found])
}

/** What TypeScript says about a project under the tsconfig.json in its folder. */
export function projectFaults(folder: string): string[] {
  return textsOf(ts.getPreEmitDiagnostics(openProgram(folder)))
}

/** What `tsc` does in a folder: writes what it emits, and says what is wrong. */
export function compileProject(folder: string): string[] {
  const program = openProgram(folder)
  return textsOf([...ts.getPreEmitDiagnostics(program), ...program.emit().diagnostics])
}

function openProgram(folder: string): ts.Program {
  const { config } = ts.readConfigFile(join(folder, 'tsconfig.json'), ts.sys.readFile)
  const { options, fileNames } = ts.parseJsonConfigFileContent(config, ts.sys, folder)
  return ts.createProgram(fileNames, options, cachingHost(folder, options))
}

function textsOf(faults: readonly ts.Diagnostic[]): string[] {
  return faults.map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, '\n'))
}

/** The declarations of packages, by what they were parsed for. To parse them takes longer than all the rest. */
const parsed = new Map<string, ts.SourceFile | undefined>()

function cachingHost(folder: string, options: ts.CompilerOptions): ts.CompilerHost {
  const host = ts.createCompilerHost(options)
  const key = [options.target, options.module, options.moduleResolution, options.moduleDetection].join()
  return {
    ...host,
    getCurrentDirectory: () => folder,
    getSourceFile(name, ...rest) {
      if (name.startsWith(folder)) return host.getSourceFile(name, ...rest)
      const place = `${key} ${name}`
      if (!parsed.has(place)) parsed.set(place, host.getSourceFile(name, ...rest))
      return parsed.get(place)
    },
  }
}

/** The same program without its types. */
export function withoutTypes(code: string): string {
  const compilerOptions = { module: ts.ModuleKind.ESNext, target: ts.ScriptTarget.ES2023, verbatimModuleSyntax: true }
  return ts.transpileModule(code, { compilerOptions }).outputText
}
