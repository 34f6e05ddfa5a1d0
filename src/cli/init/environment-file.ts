import { appendLines } from './code/lines.js'

/** `.env` with the variables that it lacks. */
export interface EnvironmentFile {
  text: string
  /** Variables that are there without a value. They stay as they are. */
  empty: readonly string[]
}

const assignment = /^[^\S\n]*(?:export[^\S\n]+)?([\w.-]+)[^\S\n]*[=:][^\S\n]*(.*)$/gm

/** Adds variables at the end. One that is there keeps its value. */
export function addVariables(text: string, variables: Readonly<Record<string, string>>): EnvironmentFile {
  const present = readVariables(text)
  const missing = Object.entries(variables).filter(([name]) => !present.has(name))
  const lines = missing.map(([name, value]) => `${name}=${value}`)
  return {
    text: lines.length > 0 ? appendLines(text, lines) : text,
    empty: Object.keys(variables).filter((name) => present.get(name) === ''),
  }
}

/** The value of a variable; null when it is missing or empty. */
export function variableOf(text: string, name: string): string | null {
  return readVariables(text).get(name) || null
}

function readVariables(text: string): ReadonlyMap<string, string> {
  return new Map([...text.matchAll(assignment)].map(([, name = '', value = '']) => [name, plainValue(value.trim())]))
}

/** Without quotes, or without a comment behind it. */
function plainValue(text: string): string {
  const quoted = /^(['"`])(.*?)\1/.exec(text)
  return quoted ? (quoted[2] ?? '') : text.replace(/(?:^|\s)#.*$/, '').trim()
}
