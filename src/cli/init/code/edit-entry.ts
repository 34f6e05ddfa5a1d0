import type { Application } from './application.js'
import { escaped } from './frameworks.js'
import { type Style, styleOf } from './lines.js'
import { depthAt } from './masked-code.js'
import type { Import, SourceFile } from './source-file.js'
import { lineEnd, lineStart, statementEnd } from './statements.js'

/** How the application's file names the settings module, and whether it imports or requires. */
export interface Wiring {
  syntax: 'import' | 'require'
  /** `./latchkey.config.js`, from the folder of the file */
  settingsPath: string
  /** What the settings module exports them as. `module`: it is CommonJS and exports nothing else. */
  exported: 'settings' | 'default' | 'module'
}

/** Express reads these when it makes its router, so they stay in front of `init`. */
const routerSettings = /\.(?:set|enable|disable)\s*\(\s*['"](?:strict routing|case sensitive routing|query parser)['"]/

/** The application's file with the three lines of Latchkey; null where they cannot be added safely. */
export function editEntry(application: Application, wiring: Wiring): string | null {
  const { source, name } = application
  const style = styleOf(source.text)
  const names = freeNames(source)
  const importsAt = placeOfImports(application, wiring)
  const callAt = placeOfCall(application)
  if (names === null || importsAt === null || callAt === null) return null
  const indent = /^[^\S\n]*/.exec(source.text.slice(application.start))?.[0] ?? ''
  const [first, second] = importLines(wiring, style, names)
  const call = `${style.eol}${indent}${names.init}(${name}, ${names.settings})${style.semicolon}`
  const { eol } = style
  const imports = importsAt.isAfter ? `${eol}${first}${eol}${second}` : `${first}${eol}${second}${eol}`
  const edits = [
    { at: importsAt.at, text: imports },
    { at: callAt, text: call },
  ]
  return edits.sort((a, b) => b.at - a.at).reduce((text, edit) => insert(text, edit.at, edit.text), source.text)
}

/** The lines as a developer pastes them, where no file was edited. */
export function linesToPaste(wiring: Wiring, appName: string): string[] {
  const style: Style = { eol: '\n', quote: "'", semicolon: '' }
  const [first, second] = importLines(wiring, style, { init: 'init', settings: 'settings' })
  return [first, second, `init(${appName}, settings)`]
}

function importLines(wiring: Wiring, style: Style, names: Names): [string, string] {
  const { settingsPath, exported } = wiring
  const line = (clause: string, specifier: string) => importLine(wiring.syntax, style, clause, specifier)
  const as = (name: string, local: string) => aliased(wiring.syntax, name, local)
  const settings = {
    settings: as('settings', names.settings),
    default: wiring.syntax === 'import' ? names.settings : as('default', names.settings),
    module: names.settings,
  }
  return [line(as('init', names.init), 'latchkey'), line(settings[exported], settingsPath)]
}

function importLine(syntax: Wiring['syntax'], { quote, semicolon }: Style, clause: string, specifier: string): string {
  const module = `${quote}${specifier}${quote}`
  return syntax === 'import'
    ? `import ${clause} from ${module}${semicolon}`
    : `const ${clause} = require(${module})${semicolon}`
}

function aliased(syntax: Wiring['syntax'], name: string, local: string): string {
  if (name === local) return `{ ${name} }`
  return syntax === 'import' ? `{ ${name} as ${local} }` : `{ ${name}: ${local} }`
}

interface Names {
  init: string
  settings: string
}

/** Names that the file does not use yet. Null where all are taken. */
function freeNames({ masked }: SourceFile): Names | null {
  const isFree = (name: string) => !new RegExp(`(?<![\\w$.])${escaped(name)}(?![\\w$])`).test(masked)
  const init = ['init', 'initLatchkey'].find(isFree)
  const settings = ['settings', 'latchkeySettings'].find(isFree)
  return init !== undefined && settings !== undefined ? { init, settings } : null
}

interface Place {
  at: number
  /** Lines go behind the end of a line, not in front of one. */
  isAfter: boolean
}

/** Behind the last import before the application; else in front of the application, or of the first statement of the file. */
function placeOfImports({ source, start }: Application, { syntax }: Wiring): Place | null {
  const { masked, imports } = source
  const isBefore = (each: Import) =>
    each.kind === syntax && lineStart(masked, each.start) < start && depthAt(masked, each.start) === 0
  const last = imports.filter(isBefore).at(-1)
  if (last) {
    const end = statementEnd(masked, last.start)
    return end === null ? null : { at: end, isAfter: true }
  }
  const at = depthAt(masked, start) === 0 ? start : firstStatement(source)
  return { at, isAfter: false }
}

/** Behind the statement that makes the application, or the last of the settings that Express reads early. */
function placeOfCall({ framework, source, name, end }: Application): number | null {
  if (framework !== 'express') return end
  const { masked, text } = source
  const calls = [...masked.matchAll(new RegExp(`(?<![\\w$.])${escaped(name)}\\.(?:set|enable|disable)\\s*\\(`, 'g'))]
  const depth = depthAt(masked, end)
  const last = calls
    .filter(({ index }) => index > end && routerSettings.test(text.slice(index, lineEnd(text, index))))
    .at(-1)
  if (!last) return end
  return depthAt(masked, last.index) === depth ? statementEnd(masked, last.index) : null
}

/** Behind comments and directives such as 'use strict'. */
function firstStatement({ masked }: SourceFile): number {
  const head = /^\uFEFF?(?:#![^\n]*\n)?(?:\s*(?:'\s*'|"\s*")\s*;?[^\S\n]*\n)*\s*/.exec(masked)?.[0].length ?? 0
  return lineStart(masked, head)
}

function insert(text: string, at: number, added: string): string {
  return text.slice(0, at) + added + text.slice(at)
}
