import { execFile } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import ts from 'typescript'

export interface Run {
  code: number
  stdout: string
  stderr: string
}

/** The part of the package that hashes, as plain JavaScript in a folder of its own, for processes of their own. */
export interface Compiled {
  folder: string
  /** Runs a module that may import from `./passwords/` and `./lib/`; `flags` are node's. */
  run(source: string, flags?: readonly string[]): Promise<Run>
  remove(): void
}

const src = fileURLToPath(new URL('../../src/', import.meta.url))

/** With the packages of this repository, or with those only. */
export function compile(packages?: readonly string[]): Compiled {
  const folder = mkdtempSync(join(tmpdir(), 'latchkey-passwords-'))
  for (const path of ['errors.ts', ...filesOf('lib'), ...filesOf('passwords')]) copy(path, folder)
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }')
  const installed = fileURLToPath(new URL('../../node_modules', import.meta.url))
  if (packages) {
    mkdirSync(join(folder, 'node_modules'))
    for (const name of packages) symlinkSync(join(installed, name), join(folder, 'node_modules', name), 'junction')
  } else symlinkSync(installed, join(folder, 'node_modules'), 'junction')

  return {
    folder,
    run(source, flags = []) {
      writeFileSync(join(folder, 'script.js'), source)
      return start([...flags, join(folder, 'script.js')])
    },
    remove: () => rmSync(folder, { recursive: true }),
  }
}

function filesOf(directory: string): string[] {
  const names = readdirSync(join(src, directory), { recursive: true, encoding: 'utf8' })
  return names.filter((name) => /\.(ts|js)$/.test(name)).map((name) => join(directory, name))
}

/** As the build does it: TypeScript loses its types, JavaScript stays. */
function copy(path: string, folder: string): void {
  const source = readFileSync(join(src, path), 'utf8')
  const compilerOptions = { module: ts.ModuleKind.ESNext, target: ts.ScriptTarget.ES2023, verbatimModuleSyntax: true }
  const code = path.endsWith('.ts') ? ts.transpileModule(source, { compilerOptions }).outputText : source
  mkdirSync(join(folder, path, '..'), { recursive: true })
  writeFileSync(join(folder, path.replace(/\.ts$/, '.js')), code)
}

function start(args: readonly string[]): Promise<Run> {
  return new Promise((resolve) => {
    execFile(process.execPath, args, { timeout: 45_000 }, (error, stdout, stderr) => {
      resolve({ code: error ? Number(error.code ?? -1) : 0, stdout, stderr })
    })
  })
}
