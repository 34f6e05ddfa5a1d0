import { localNames, type SourceFile } from './source-file.js'

export type FrameworkName = 'express' | 'fastify' | 'hono' | 'node'

/** The call that makes an application, up to its brackets: `express`, `new Hono`. */
export interface Maker {
  start: number
  end: number
}

interface Framework {
  findMakers(source: SourceFile): Maker[]
  /** Patterns of masked code that serves the application of this name. */
  serves(name: string): string[]
}

const httpModules = ['http', 'https', 'node:http', 'node:https']

export const frameworks: Readonly<Record<FrameworkName, Framework>> = {
  express: {
    findMakers: (source) => [
      ...named(source, localNames(source, ['express'], 'default')),
      ...required(source, ['express'], ''),
    ],
    serves: (name) => [`${name}\\.listen\\s*\\(`, `createServer\\s*\\((?:[^;()]*,)?\\s*${name}\\s*\\)`],
  },
  fastify: {
    findMakers: (source) => [
      ...named(
        source,
        ['default', 'fastify', 'Fastify'].flatMap((name) => localNames(source, ['fastify'], name)),
      ),
      ...required(source, ['fastify'], ''),
    ],
    serves: (name) => [`${name}\\.listen\\s*\\(`],
  },
  hono: {
    findMakers: (source) =>
      localNames(source, ['hono', 'hono/tiny', 'hono/quick'], 'Hono').flatMap((name) =>
        find(source, `(?<![\\w$.])new\\s+${escaped(name)}\\b`),
      ),
    serves: (name) => [`${name}\\.fetch\\b`, `(?<![\\w$.])serve\\s*\\(\\s*${name}\\b`],
  },
  node: {
    findMakers: (source) => [
      ...named(source, localNames(source, httpModules, 'createServer')),
      ...named(
        source,
        localNames(source, httpModules, 'default').map((name) => `${name}.createServer`),
      ),
      ...required(source, httpModules, '\\.createServer'),
    ],
    serves: (name) => [`${name}\\.listen\\s*\\(`],
  },
}

/** A name for a regular expression. `$` may be part of it. */
export function escaped(name: string): string {
  return name.replace(/[$.]/g, '\\$&')
}

/** Matches calls of functions with these names, and skips the declarations of those functions. */
function named(source: SourceFile, names: readonly string[]): Maker[] {
  return [...new Set(names)].flatMap((name) => find(source, `(?<![\\w$.]|function\\s)${escaped(name)}(?=\\s*[(<])`))
}

/** `require('express')()`, which gives the module no name. */
function required(source: SourceFile, specifiers: readonly string[], member: string): Maker[] {
  const calls = find(source, `(?<![\\w$.])require\\s*\\(\\s*(?:'\\s*'|"\\s*")\\s*\\)${member}(?=\\s*\\()`)
  return calls.filter(({ start, end }) => {
    const [, specifier = ''] = /['"](.*)['"]/.exec(source.text.slice(start, end)) ?? []
    return specifiers.includes(specifier)
  })
}

function find({ masked }: SourceFile, pattern: string): Maker[] {
  return [...masked.matchAll(new RegExp(pattern, 'g'))].map((match) => ({
    start: match.index,
    end: match.index + match[0].length,
  }))
}
