import { posix } from 'node:path'
import { escaped, type FrameworkName, frameworks, type Maker } from './frameworks.js'
import { closingEnd } from './masked-code.js'
import type { SourceFile } from './source-file.js'
import { lineStart, statementEnd } from './statements.js'

/** The statement that makes the application, on lines of its own. */
export interface Application {
  framework: FrameworkName
  source: SourceFile
  /** `app`, `this.app` */
  name: string
  /** Where its first line begins, and where its last one ends. */
  start: number
  end: number
}

/** A call that makes an application. `application` is null where no line can be added after it safely. */
interface Made {
  source: SourceFile
  framework: FrameworkName
  application: Application | null
}

/** `several`: the application cannot be told from others, or its statement has more on its lines. */
export type Search = { found: 'one'; application: Application } | { found: 'none' } | { found: 'several' }

const declaration =
  /(?:^|[\n;{}])[^\S\n]*(?:(?:export\s+)?(?:const|let|var)\s+(?<declared>[\w$]+)\s*(?::[^=;\n]+)?|(?<assigned>(?:this\.)?[\w$]+)\s*)=\s*(?:(?:module\.)?exports(?:\.[\w$]+)?\s*=\s*)?$/d

/**
 * Finds the one application of these frameworks. Of several, such as routers that are applications too, it is the one that the
 * code serves.
 */
export function findApplication(sources: readonly SourceFile[], names: readonly FrameworkName[]): Search {
  const made = names.flatMap((name) => sources.flatMap((source) => madeIn(source, name)))
  if (made.length === 0) return { found: 'none' }
  const served = made.filter(({ application }) => application !== null && isServed(application, sources))
  const [first, ...others] = made.length === 1 ? made : served
  if (!first?.application || others.length > 0) return { found: 'several' }
  return { found: 'one', application: first.application }
}

function madeIn(source: SourceFile, framework: FrameworkName): Made[] {
  return frameworks[framework].findMakers(source).map((maker) => ({
    source,
    framework,
    application: applicationOf(source, framework, maker),
  }))
}

function applicationOf(source: SourceFile, framework: FrameworkName, maker: Maker): Application | null {
  const { masked } = source
  const before = declaration.exec(masked.slice(0, maker.start))
  const [nameAt, nameEnd] = before?.indices?.groups?.declared ?? before?.indices?.groups?.assigned ?? []
  const callEnd = endOfCall(masked, maker.end)
  if (nameAt === undefined || callEnd === null) return null
  const name = masked.slice(nameAt, nameEnd)
  const end = statementEnd(masked, nameAt)
  // Nothing but a semicolon may follow: `new Hono().get(…)` is a router with routes already.
  if (end === null || !/^\s*;?\s*$/.test(masked.slice(callEnd, end))) return null
  const start = lineStart(masked, nameAt)
  const isAlone = /^\s*(?:export\s+)?(?:(?:const|let|var)\s+)?$/.test(masked.slice(start, nameAt))
  return isAlone ? { framework, source, name, start, end } : null
}

/** After type arguments, if there are any, and the brackets of the call. */
function endOfCall(masked: string, place: number): number | null {
  const open = /^\s*\(/.exec(masked.slice(typeArgumentsEnd(masked, place)))
  return open ? closingEnd(masked, typeArgumentsEnd(masked, place) + open[0].length - 1) : null
}

/** The end of `<…>` behind this place; the place itself where none begins. */
function typeArgumentsEnd(masked: string, place: number): number {
  let depth = 0
  for (let at = place; at < masked.length; at += 1) {
    const character = masked.charAt(at)
    if (character === '<') depth += 1
    // The arrow of a function type closes nothing.
    if (character === '>' && masked.charAt(at - 1) !== '=') depth -= 1
    if (depth === 0 && character === '>') return at + 1
    if (depth === 0 && /\S/.test(character)) return place
  }
  return place
}

function isServed(application: Application, sources: readonly SourceFile[]): boolean {
  const { source, name } = application
  if (servesIn(source, application, name)) return true
  return sources.some((other) =>
    localNamesOf(other, source.path, name).some((local) => servesIn(other, application, local)),
  )
}

function servesIn({ masked }: SourceFile, { framework }: Application, name: string): boolean {
  const patterns = frameworks[framework].serves(`(?<![\\w$.])${escaped(name)}`)
  return patterns.some((pattern) => new RegExp(pattern).test(masked))
}

/** What a file calls the application that another file exports. */
function localNamesOf(source: SourceFile, path: string, name: string): string[] {
  const stem = (text: string) => text.replace(/\.[cm]?[jt]s$/, '').replace(/\/index$/, '')
  const imports = source.imports.filter(({ specifier }) => {
    const target = posix.join(posix.dirname(source.path), specifier)
    return specifier.startsWith('.') && stem(target) === stem(path)
  })
  return imports.flatMap(({ clause }) => {
    const named = new RegExp(`(?<![\\w$])${escaped(name)}(?:\\s*(?:as|:)\\s*([\\w$]+))?(?=\\s*[,}])`).exec(clause)
    const whole = /^[\w$]+/.exec(clause)?.[0]
    return [whole, named ? (named[1] ?? name) : undefined].filter((each) => each !== undefined)
  })
}
