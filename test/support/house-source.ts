import { readdirSync, readFileSync } from 'node:fs'
import { join, posix } from 'node:path'
import ts from 'typescript'

/** One file of the package as the house rules see it. `path` begins with `src/`. */
export interface Source {
  path: string
  text: string
  tree: ts.SourceFile
}

export interface Import {
  /** As written: `./login.js`, `zod`, `node:crypto`. */
  specifier: string
  line: number
  /** Erased by the compiler: `import type`, `export type … from`, `import('…').Name`. */
  typeOnly: boolean
  /** Inside a function, so not before somebody calls it. */
  lazy: boolean
}

/** Path and text in, so that a test can show a rule at work on a snippet. */
export function parse(path: string, text: string): Source {
  return { path, text, tree: ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true) }
}

/** Every `.ts` and `.js` file below `<root>/src`. */
export function readSources(root: string): Source[] {
  return readdirSync(join(root, 'src'), { recursive: true, encoding: 'utf8' })
    .map((name) => posix.join('src', ...name.split(/[\\/]/)))
    .filter((path) => /\.(ts|js)$/.test(path))
    .sort()
    .map((path) => parse(path, readFileSync(join(root, path), 'utf8')))
}

/** Calls back for the node and everything below it. */
export function walk(node: ts.Node, visit: (node: ts.Node) => void): void {
  visit(node)
  ts.forEachChild(node, (child) => walk(child, visit))
}

export function lineOf(source: Source, node: ts.Node): number {
  return source.tree.getLineAndCharacterOfPosition(node.getStart(source.tree)).line + 1
}

/** Found once per file, since every rule asks for them. */
const knownImports = new WeakMap<Source, Import[]>()

export function importsOf(source: Source): Import[] {
  const known = knownImports.get(source)
  if (known) return known
  const found: Import[] = []
  knownImports.set(source, found)
  walk(source.tree, (node) => {
    const target = targetOf(node)
    if (target) found.push({ ...target, line: lineOf(source, node), lazy: enclosingFunction(node) !== null })
  })
  return found
}

/** The nearest function around a node, or null at the top of its file. */
export function enclosingFunction(node: ts.Node): ts.SignatureDeclaration | null {
  for (let parent = node.parent; parent; parent = parent.parent) {
    if (ts.isFunctionLike(parent)) return parent
  }
  return null
}

/** The source file that a relative import means, or null. */
export function resolve(sources: readonly Source[], from: Source, specifier: string): Source | null {
  const path = posix.join(posix.dirname(from.path), specifier)
  const typescript = path.replace(/\.js$/, '.ts')
  return sources.find((source) => source.path === path || source.path === typescript) ?? null
}

/** `zod` of `zod/mini`, `@scope/name` of `@scope/name/part`; node's own modules stay whole. */
export function packageOf(specifier: string): string {
  if (specifier.startsWith('node:')) return specifier
  const parts = specifier.split('/')
  return parts.slice(0, specifier.startsWith('@') ? 2 : 1).join('/')
}

function targetOf(node: ts.Node): Pick<Import, 'specifier' | 'typeOnly'> | null {
  if (ts.isImportDeclaration(node) && ts.isStringLiteral(node.moduleSpecifier)) {
    return {
      specifier: node.moduleSpecifier.text,
      typeOnly: node.importClause?.phaseModifier === ts.SyntaxKind.TypeKeyword,
    }
  }
  if (ts.isExportDeclaration(node) && node.moduleSpecifier && ts.isStringLiteral(node.moduleSpecifier)) {
    return { specifier: node.moduleSpecifier.text, typeOnly: node.isTypeOnly }
  }
  if (ts.isImportTypeNode(node) && ts.isLiteralTypeNode(node.argument) && ts.isStringLiteral(node.argument.literal)) {
    return { specifier: node.argument.literal.text, typeOnly: true }
  }
  // import('kysely'), require('pg'), createRequire(import.meta.url)('better-sqlite3')
  if (ts.isCallExpression(node) && /^import$|require(?!d)/i.test(node.expression.getText())) {
    const [argument] = node.arguments
    if (argument && ts.isStringLiteralLike(argument)) return { specifier: argument.text, typeOnly: false }
  }
  return null
}
