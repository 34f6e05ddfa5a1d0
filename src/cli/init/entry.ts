import { type Application, findApplication } from './code/application.js'
import type { FrameworkName } from './code/frameworks.js'
import type { SourceFile } from './code/source-file.js'
import type { Facts } from './facts.js'
import type { Project } from './project.js'

/** The application's file: one to edit, one to write, or one that was not found. */
export type Entry = {
  framework: FrameworkName
  /** Of an unknown file: one beside package.json. */
  path: string
  syntax: 'import' | 'require'
  isTypeScript: boolean
} & ({ kind: 'edited'; application: Application } | { kind: 'new' } | { kind: 'unknown'; reason: string })

export function findEntry(project: Project, facts: Facts): Entry {
  const search = findApplication(facts.sources, facts.frameworks)
  if (search.found === 'one' && project.isComplete) {
    const { application } = search
    const { source, framework } = application
    const isTypeScript = /ts$/.test(source.path)
    const syntax = isTypeScript ? 'import' : syntaxOf(source, facts)
    return { kind: 'edited', application, framework, path: source.path, syntax, isTypeScript }
  }
  const [framework = 'node'] = facts.frameworks
  const path = newPath(facts)
  if (facts.sources.length === 0 && project.kindOf(path) === 'missing') {
    return { kind: 'new', framework, path, syntax: syntaxOfNew(path, facts), isTypeScript: facts.isTypeScript }
  }
  const isTypeScript = facts.isTypeScript && facts.sources.some((source) => /ts$/.test(source.path))
  const syntax = isTypeScript || facts.moduleType === 'module' || facts.sources.some(imports) ? 'import' : 'require'
  const reason = search.found === 'none' ? notFound[framework] : ambiguous
  return { kind: 'unknown', reason, framework, path: isTypeScript ? 'index.ts' : 'index.js', syntax, isTypeScript }
}

const notFound: Readonly<Record<FrameworkName, string>> = {
  express: 'No line like `const app = express()` was found.',
  fastify: 'No line like `const app = Fastify()` was found.',
  hono: 'No line like `const app = new Hono()` was found.',
  node: 'No line like `const server = createServer(…)` was found.',
}
export const ambiguous = 'The line that makes the application could not be told from others, or holds more code.'

function syntaxOf(source: SourceFile, facts: Facts): 'import' | 'require' {
  if (imports(source)) return 'import'
  return source.imports.length > 0 ? 'require' : syntaxOfNew(source.path, facts)
}

function syntaxOfNew(path: string, { moduleType, isTypeScript }: Facts): 'import' | 'require' {
  if (/\.mjs$/.test(path)) return 'import'
  if (/\.cjs$/.test(path)) return 'require'
  return isTypeScript || moduleType === 'module' ? 'import' : 'require'
}

function imports(source: SourceFile): boolean {
  return source.imports.some(({ kind }) => kind === 'import')
}

/** `main` of package.json where it names a source; else the usual name. */
function newPath({ isTypeScript, compiler, main }: Facts): string {
  const rootDir = compiler?.rootDir ?? '.'
  if (isTypeScript) return rootDir === '.' || /^(?:\.\.|\/)/.test(rootDir) ? 'index.ts' : `${rootDir}/index.ts`
  const wanted = main?.replace(/^\.\//, '') ?? ''
  const isSource = /^[\w-][\w./-]*\.[cm]?js$/.test(wanted) && !/^(?:dist|build|out|lib)\/|\.\./.test(wanted)
  return isSource ? wanted : 'index.js'
}
