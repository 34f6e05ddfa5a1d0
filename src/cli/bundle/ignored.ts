import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { usage } from '../tool-error.js'

const fileName = '.latchkeyignore'

/** Keys, environments and databases. They are never part of a release, whatever a project says. */
const secret =
  /^(\.env.*|.*\.(pem|key|p12|pfx|jks|keystore)|.*\.(db|sqlite|sqlite3)(-wal|-shm|-journal)?|latchkey\.(config|host)\..*|secrets\.json|id_(rsa|dsa|ecdsa|ed25519)(\..*)?|latchkey-data)$/i

export function looksSecret(name: string): boolean {
  return secret.test(name)
}

/** Files beginning with a dot are settings of tools. Browsers and programs ask for `.well-known` (RFC 8615). */
export function isNeverAsset(name: string): boolean {
  return name === 'node_modules' || (name.startsWith('.') && name !== '.well-known')
}

/**
 * Reads `.latchkeyignore`: one name or path a line, of files and folders that a release does not need. `*` stands for any
 * characters of one name. A line without `/` counts in every folder, another from the project's folder on. `#` begins a comment.
 *
 * @returns whether a path within the project is ignored
 * @throws {ToolError} exit code 2, when the file cannot be read or a line begins with `!`
 */
export function readIgnored(folder: string): (path: string) => boolean {
  const lines = readLines(folder).map((line) => line.trim().replace(/^\/|\/$/g, (slash, at) => (at === 0 ? slash : '')))
  const patterns = lines.filter((line) => line !== '' && !line.startsWith('#')).map(patternOf)
  return (path) => patterns.some(({ regex, ofPath }) => regex.test(ofPath ? path : (path.split('/').at(-1) ?? '')))
}

function patternOf(line: string): { regex: RegExp; ofPath: boolean } {
  if (line.startsWith('!')) throw usage(`${fileName}: "${line}" begins with "!", which is not supported.`)
  const ofPath = line.includes('/')
  const text = line
    .replace(/^\//, '')
    .replace(/[^\w/*]/g, '\\$&')
    .replace(/\*+/g, '[^/]*')
  return { regex: new RegExp(`^${text}$`), ofPath }
}

/** The lines of the file; none when the project has no such file. */
function readLines(folder: string): string[] {
  try {
    return readFileSync(join(folder, fileName), 'utf8').split('\n')
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown error'
    if (code === 'ENOENT') return []
    throw usage(`${fileName} cannot be read (${code}). Make it a readable file, or remove it.`)
  }
}
