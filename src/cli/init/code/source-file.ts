import { maskCode } from './masked-code.js'

/** A file of the application's code. */
export interface SourceFile {
  path: string
  text: string
  /** The text as `maskCode` returns it. */
  masked: string
  imports: readonly Import[]
}

/** One import statement, or one `const … = require(…)`. */
export interface Import {
  kind: 'import' | 'require'
  specifier: string
  /** What stands between `import` and `from`, or before the `=` of a require: `express`, `{ Hono }`. */
  clause: string
  isTypeOnly: boolean
  start: number
  end: number
}

// In a masked program a specifier is blank, and as long as it is in the text.
const importStatement =
  /(?<![\w$.])import\s+(?<typeOnly>type\s+(?!from\b))?(?<clause>[^'"`;()=]*?)\s*(?:from\s*)?(?<quote>['"])(?<specifier>\s*)\k<quote>/dg
const importAssignment =
  /(?<![\w$.])import\s+(?<clause>[\w$]+)\s*=\s*require\s*\(\s*(?<quote>['"])(?<specifier>\s*)\k<quote>\s*\)/dg
const requireCall =
  /(?<![\w$.])(?:const|let|var)\s+(?<clause>[\w$]+|\{[^{}]*\})\s*=\s*require\s*\(\s*(?<quote>['"])(?<specifier>\s*)\k<quote>\s*\)/dg

export function readSource(path: string, text: string): SourceFile {
  const masked = maskCode(text)
  const found = [
    ...matches(masked, importStatement).map((match) => importOf('import', text, match)),
    ...matches(masked, importAssignment).map((match) => importOf('import', text, match)),
    ...matches(masked, requireCall).map((match) => importOf('require', text, match)),
  ]
  return { path, text, masked, imports: found.sort((left, right) => left.start - right.start) }
}

/** The local names of what a file imports as `name` from a module; `default` also stands for the module as a whole. */
export function localNames(source: SourceFile, specifiers: readonly string[], name: string): string[] {
  const found = source.imports.filter((each) => !each.isTypeOnly && specifiers.includes(each.specifier))
  return found.flatMap(({ clause }) => namesIn(clause, name))
}

/** The name that a file gives to the module as a whole: `app` of `import app from './app.js'`. */
function wholeName(clause: string): string | null {
  return /^\s*(?:\*\s*as\s+)?([\w$]+)/.exec(clause)?.[1] ?? null
}

function namesIn(clause: string, name: string): string[] {
  const [, braced = ''] = /\{([^}]*)\}/.exec(clause) ?? []
  const named = braced.split(',').flatMap((part) => {
    const [imported = '', local = imported] = part.trim().split(/\s+as\s+|\s*:\s*/)
    return imported === name ? [local] : []
  })
  const whole = wholeName(clause)
  return name === 'default' && whole !== null ? [whole, ...named] : named
}

function matches(masked: string, pattern: RegExp): RegExpExecArray[] {
  return [...masked.matchAll(pattern)]
}

function importOf(kind: Import['kind'], text: string, match: RegExpExecArray): Import {
  const [from = 0, to = 0] = match.indices?.groups?.specifier ?? []
  return {
    kind,
    specifier: text.slice(from, to),
    clause: match.groups?.clause?.trim() ?? '',
    isTypeOnly: match.groups?.typeOnly !== undefined,
    start: match.index,
    end: match.index + match[0].length,
  }
}
