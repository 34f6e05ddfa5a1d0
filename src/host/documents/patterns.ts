import { bounds } from './meter.js'
import { queryInvalid } from './store-error.js'

/** How many steps a regular expression takes at most, on a text of this length. */
export type StepsOf = (length: number) => number

/** Backtracks without an end in sight. */
const endless: StepsOf = () => Number.POSITIVE_INFINITY

interface Group {
  /** It holds a choice: an alternative, or something repeated. */
  isChoice: boolean
}

/**
 * Estimates the steps of a valid regular expression from its quantifiers, alternatives and groups. The estimate is too high rather
 * than too low. An expression that is estimated as endless may be fast all the same, so it runs under a time limit.
 */
export function stepsOf({ source, flags }: Pick<RegExp, 'source' | 'flags'>): StepsOf {
  let [factor, degree] = [source.length, startsAnchored(source, flags) ? 0 : 1]
  const open: Group[] = []
  let last: Group = { isChoice: false }
  for (const [token] of source.matchAll(tokens)) {
    if (/^\\([1-9]|k<)/.test(token)) return endless
    if (token.startsWith('(')) open.push({ isChoice: false })
    else if (token === ')') last = open.pop() ?? { isChoice: true }
    else if (token === '|') {
      factor *= 2
      for (const group of open) group.isChoice = true
    } else if (!isQuantifier(token)) last = { isChoice: false }
    else {
      const most = mostOf(token)
      if (last.isChoice && most > 1) return endless
      if (most === Number.POSITIVE_INFINITY) degree += 1
      else factor *= most + 1
      for (const group of open) group.isChoice = true
    }
  }
  return (length) => factor * Math.max(length, 1) ** degree
}

/** An escape, a class, the beginning of a group, a quantifier, or one character. */
const tokens =
  /\\(?:k<[^>]*>|[1-9]\d*|.)|\[(?:\\.|[^\]\\])*\]|\((?:\?(?:[:=!]|<[=!]|<[^>]*>))?|\{\d+(?:,\d*)?\}\??|[*+?]\??|./gs

function isQuantifier(token: string): boolean {
  return /^(?:[*+?]\??|\{\d+(?:,\d*)?\}\??)$/.test(token)
}

function mostOf(token: string): number {
  if (token.startsWith('?')) return 1
  if (!token.startsWith('{')) return Number.POSITIVE_INFINITY
  const [, least = '', comma, most] = /^\{(\d+)(,?)(\d*)/.exec(token) ?? []
  if (comma === '') return Number(least)
  return most === '' ? Number.POSITIVE_INFINITY : Number(most)
}

/** Else it is tried at each character. */
function startsAnchored(source: string, flags: string): boolean {
  return source.startsWith('^') && !flags.includes('m') && !source.includes('|')
}

/** @throws {StoreError} `query_invalid` */
export function requirePattern(pattern: unknown, flags?: unknown): RegExp {
  const text = pattern instanceof RegExp ? pattern.source : pattern
  if (typeof text !== 'string' || (flags !== undefined && flags !== null && typeof flags !== 'string')) {
    throw queryInvalid('A regular expression is a text, and so are its options.')
  }
  if (text.length > bounds.pattern) throw queryInvalid('A regular expression has at most 16,384 characters.')
  const own = pattern instanceof RegExp ? pattern.flags : ''
  const all = flags ?? own
  requireQuickToCompile(text, all)
  return new RegExp(text, all)
}

/** The engine cannot be stopped while it compiles, and sets of characters take it long when it reads Unicode. */
function requireQuickToCompile(source: string, flags: string): void {
  if (flags.includes('v')) throw queryInvalid('A regular expression has no flag v here. Use the flag u.')
  if (!flags.includes('u')) return
  const most = flags.includes('i') ? bounds.foldedProperties : bounds.properties
  if (countOf(source, /\\p/gi) > most) {
    throw queryInvalid(`With the flags ${flags}, a regular expression has at most ${most} \\p{…}. Use fewer of them.`)
  }
  if (countOf(source, /[.[]|\\[dsw]/gi) > bounds.characterSets) {
    throw queryInvalid(
      `With the flag u, a regular expression has at most ${bounds.characterSets} sets such as [a-z], \\w and dots. Use fewer of them.`,
    )
  }
}

function countOf(source: string, what: RegExp): number {
  let count = 0
  for (const _ of source.matchAll(what)) count += 1
  return count
}
