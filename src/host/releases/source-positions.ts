import { SourceMap } from 'node:module'
import { pathToFileURL } from 'node:url'
import { numberIn, readFields, textIn, textsIn } from '../../lib/json-fields.js'
import { oneLine } from '../../lib/one-line.js'
import { releasePaths } from '../../model/release.js'

/** An error of a bundle, by the files of its project. */
export interface MappedError {
  /** Message and stack. No path of the host is left in it. */
  stack: string
  /** `file:line:column` of the first call in the project's own code, else in one of its packages. null without one. */
  place: string | null
}

/** The first error of a release that fails is printed. This much of it is enough. */
const longestStack = 16 * 1024

/**
 * Replaces places in the bundle by places in the project's files.
 *
 * Reading a large map takes tens of milliseconds, so this is for errors of a start, not for errors of requests.
 *
 * @param bundle path of `bundle.mjs`, as it was imported
 * @param map text of `bundle.mjs.map`. With a damaged one, places in the bundle stay
 */
export function mapError(error: { stack: string; bundle: string; map: string }): MappedError {
  const sourceMap = readMap(error.map)
  const places: string[] = []
  const spellings = [pathToFileURL(error.bundle).href, error.bundle].map((each) => each.replace(/[^\w/]/g, '\\$&'))
  // Without a column it is the head of a SyntaxError.
  const pattern = new RegExp(`(?:${spellings.join('|')})(?:\\?\\w+)?(?::(\\d+))?(?::(\\d+))?`, 'g')
  const stack = error.stack.slice(0, longestStack).replace(pattern, (_, line?: string, column?: string) => {
    const place = sourceMap && line !== undefined ? originOf(sourceMap, Number(line), Number(column ?? 1)) : null
    if (place !== null) places.push(place)
    return place ?? [releasePaths.code, line, column].filter((part) => part !== undefined).join(':')
  })
  return { stack, place: places.find((place) => !place.includes('node_modules/')) ?? places[0] ?? null }
}

function originOf(map: SourceMap, line: number, column: number): string | null {
  const origin = map.findOrigin(line, column)
  if (!('fileName' in origin) || typeof origin.fileName !== 'string') return null
  return `${oneLine(origin.fileName)}:${origin.lineNumber}:${origin.columnNumber}`
}

function readMap(text: string): SourceMap | null {
  const payload = readFields(text, (fields) => ({
    version: numberIn(fields, 'version'),
    sources: textsIn(fields, 'sources'),
    mappings: textIn(fields, 'mappings'),
    file: '',
    names: [],
    sourcesContent: [],
    sourceRoot: '',
  }))
  try {
    return payload && new SourceMap(payload)
  } catch {
    return null
  }
}
