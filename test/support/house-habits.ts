import ts from 'typescript'
import { enclosingFunction, lineOf, type Source, walk } from './house-source.js'

/** What is let off a rule, by path, and nothing else. */
export interface Exceptions {
  /** Generated files and data lists: no size limits. */
  unmeasured?: readonly string[]
  /** Parse functions, `path#function`: `as` may stand in them, and their comment says `Boundary:` and why. */
  boundaries?: readonly string[]
}

const maximum = { file: 300, function: 60 }

/** One bound for all files and one for all functions, so that each can be read whole. */
export function sizeFaults(sources: readonly Source[], exceptions: Exceptions = {}): string[] {
  return sources
    .filter((source) => !exceptions.unmeasured?.includes(source.path))
    .flatMap((source) => [...fileSizeFaults(source), ...functionSizeFaults(source)])
}

function fileSizeFaults(source: Source): string[] {
  const lines = source.text.trimEnd().split('\n').length
  if (lines <= maximum.file) return []
  return [
    `${source.path} has ${lines} lines. A file may have ${maximum.file}. Move one topic of it to a file or a room of its own.`,
  ]
}

function functionSizeFaults(source: Source): string[] {
  const faults: string[] = []
  walk(source.tree, (node) => {
    if (!ts.isFunctionLike(node) || isTable(node)) return
    const first = lineOf(source, node)
    const lines = source.tree.getLineAndCharacterOfPosition(node.getEnd()).line + 2 - first
    if (lines <= maximum.function) return
    faults.push(
      `${source.path}:${first} is a function of ${lines} lines. A function may have ${maximum.function}. Give one step of it a function with a name.`,
    )
  })
  return faults
}

/** Whether a function only returns a list or an object, written out or as the argument of a call: a table of data. */
function isTable(node: ts.SignatureDeclaration): boolean {
  const body = 'body' in node ? node.body : undefined
  if (!body) return false
  if (!ts.isBlock(body)) return isLiteral(body)
  const [only, ...others] = body.statements
  if (!only || others.length > 0 || !ts.isReturnStatement(only) || !only.expression) return false
  const value = only.expression
  return isLiteral(value) || (ts.isCallExpression(value) && value.arguments.every(isLiteral))
}

function isLiteral(node: ts.Node): boolean {
  if (ts.isParenthesizedExpression(node)) return isLiteral(node.expression)
  return ts.isObjectLiteralExpression(node) || ts.isArrayLiteralExpression(node)
}

/** No default export, no `export *`, no barrel but the public doors. */
export function exportFaults(sources: readonly Source[]): string[] {
  return sources.flatMap((source) => {
    const faults: string[] = []
    const door = /^src\/(index|testing|client|preview)\.ts$/.test(source.path)
    const reExports = source.tree.statements.filter((node) => ts.isExportDeclaration(node) && node.moduleSpecifier)
    if (!door && reExports.length > 0 && reExports.length === source.tree.statements.length) {
      faults.push(`${source.path} only hands on what others export`)
    }
    walk(source.tree, (node) => {
      const place = `${source.path}:${lineOf(source, node)}`
      if (node.kind === ts.SyntaxKind.DefaultKeyword && !ts.isCaseOrDefaultClause(node.parent)) {
        faults.push(`${place} has a default export`)
      }
      if (ts.isExportAssignment(node) || (ts.isExportSpecifier(node) && node.name.text === 'default')) {
        faults.push(`${place} has a default export`)
      }
      if (ts.isExportDeclaration(node) && !node.exportClause) faults.push(`${place} says export *`)
    })
    return faults
  })
}

/** No `any`, no `!`, and `as` only in the parse functions that are listed. */
export function typeFaults(sources: readonly Source[], exceptions: Exceptions = {}): string[] {
  const faults: string[] = []
  const used = new Set<string>()
  for (const source of sources) {
    walk(source.tree, (node) => {
      const place = `${source.path}:${lineOf(source, node)}`
      if (node.kind === ts.SyntaxKind.AnyKeyword) faults.push(`${place} says any`)
      if (ts.isNonNullExpression(node)) faults.push(`${place} says !`)
      if ((ts.isPropertyDeclaration(node) || ts.isVariableDeclaration(node)) && node.exclamationToken) {
        faults.push(`${place} says !`)
      }
      if (!isAssertion(node)) return
      const around = namedFunctionAround(node)
      const boundary = `${source.path}#${around?.name ?? 'top level'}`
      used.add(boundary)
      if (!exceptions.boundaries?.includes(boundary)) faults.push(`${place} says as, in ${boundary}`)
      else if (!around?.saysBoundary) faults.push(`${boundary} does not say "Boundary:" and why it may be trusted`)
    })
  }
  const idle = exceptions.boundaries?.filter((boundary) => !used.has(boundary)) ?? []
  return [...faults, ...idle.map((boundary) => `${boundary} needs no exception any more`)]
}

/** The tool and the host read the environment; the child of a space fills it for the application. */
const environments = ['src/cli/environment.ts', 'src/host/runner/world.ts', 'src/host/serve.ts']

/** The outside world comes through `lib/`: clock, randomness. */
export function worldFaults(sources: readonly Source[]): string[] {
  return sources.flatMap((source) => {
    const faults: string[] = []
    // The browser client and the child of a space have a world of their own, and nothing of lib.
    const worlds = ['src/client/browser.ts', 'src/host/runner/world.ts']
    const inLib = source.path.startsWith('src/lib/') || worlds.includes(source.path)
    walk(source.tree, (node) => {
      const place = `${source.path}:${lineOf(source, node)}`
      const text = ts.isPropertyAccessExpression(node) || ts.isIdentifier(node) ? node.getText(source.tree) : ''
      if (ts.isImportDeclaration(node) && node.moduleSpecifier.getText(source.tree).slice(1, -1) === 'node:process')
        faults.push(`${place} imports node:process, which opens standard input`)
      if (text === 'process.env' && !environments.includes(source.path)) faults.push(`${place} reads process.env`)
      if (text === 'Math.random') faults.push(`${place} uses Math.random`)
      if (!inLib && /^(Date\.now|performance\.now|process\.hrtime|hrtime)$/.test(text))
        faults.push(`${place} reads ${text}`)
      if (!inLib && ts.isNewExpression(node) && node.expression.getText() === 'Date' && !node.arguments?.length) {
        faults.push(`${place} reads new Date()`)
      }
      if (!inLib && ts.isIdentifier(node) && /^(randomBytes|randomUUID|randomInt|getRandomValues)$/.test(text)) {
        faults.push(`${place} uses ${text}`)
      }
    })
    return [...new Set(faults)]
  })
}

/** Two `init` calls in one process share nothing: no variable, no empty collection and no room for bytes at the top of a module. */
export function stateFaults(sources: readonly Source[]): string[] {
  return sources.flatMap((source) =>
    source.tree.statements.filter(ts.isVariableStatement).flatMap((statement) => {
      const place = `${source.path}:${lineOf(source, statement)}`
      if (!(statement.declarationList.flags & ts.NodeFlags.Const)) return [`${place} declares a variable of the module`]
      return statement.declarationList.declarations
        .filter(({ initializer }) => initializer !== undefined && isEmptyCollection(initializer))
        .map((declaration) => `${place} keeps ${declaration.name.getText(source.tree)} for the whole process`)
    }),
  )
}

/** Titles are sentences about behaviour, without «should»; nothing is narrowed down or put off. */
export function titleFaults(tests: readonly Source[]): string[] {
  return tests.flatMap((source) => {
    const faults: string[] = []
    walk(source.tree, (node) => {
      if (!ts.isCallExpression(node)) return
      const [called] = /^(test|it|describe)\b[.\w]*/.exec(node.expression.getText(source.tree)) ?? []
      const [title] = node.arguments
      if (!called || !title || !ts.isStringLiteralLike(title)) return
      const place = `${source.path}:${lineOf(source, node)}`
      if (/\bshould\b/i.test(title.text)) faults.push(`${place} says should`)
      if (/\.(only|todo|skip|fails)$/.test(called)) faults.push(`${place} says ${called}`)
    })
    return faults
  })
}

function isAssertion(node: ts.Node): boolean {
  if (ts.isTypeAssertionExpression(node)) return true
  return ts.isAsExpression(node) && !ts.isConstTypeReference(node.type)
}

function isEmptyCollection(node: ts.Expression): boolean {
  if (ts.isArrayLiteralExpression(node)) return node.elements.length === 0
  if (ts.isObjectLiteralExpression(node)) return node.properties.length === 0
  if (ts.isCallExpression(node)) return /^Buffer\.alloc/.test(node.expression.getText())
  if (!ts.isNewExpression(node)) return false
  const kind = node.expression.getText()
  const [content] = node.arguments ?? []
  return kind === 'LRUCache' || (/^(Weak)?(Map|Set)$/.test(kind) && (!content || isEmptyCollection(content)))
}

/** The nearest function with a name, which is what stands in the list of boundaries, and whether its comment says so. */
function namedFunctionAround(node: ts.Node): { name: string; saysBoundary: boolean } | null {
  for (let around = enclosingFunction(node); around; around = enclosingFunction(around)) {
    if (around.name) return { name: around.name.getText(), saysBoundary: /Boundary:/.test(commentOf(around)) }
  }
  return null
}

function commentOf(node: ts.Node): string {
  return node.getFullText().slice(0, node.getStart() - node.getFullStart())
}
