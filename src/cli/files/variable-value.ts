import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { readSecret } from '../secret-input.js'
import type { Tool } from '../tool.js'
import { usage } from '../tool-error.js'
import { noFile, statOrNull } from './trusted-file.js'

const mostBytes = 32 * 1024

/**
 * The value of a variable, as the command line, stdin, a file or the person gives it.
 *
 * @throws {ToolError} usage, for more than 32 KiB and for what is no UTF-8
 */
export async function readValue(
  tool: Tool,
  given: { name: string; value: string | undefined; file: string | undefined; encrypted: boolean },
): Promise<string> {
  const text = await readText(tool, given)
  if (Buffer.byteLength(text) > mostBytes)
    throw usage(`The value of ${given.name} has more than ${mostBytes / 1024} KiB.`)
  return text
}

async function readText(
  tool: Tool,
  { name, value, file, encrypted }: Parameters<typeof readValue>[1],
): Promise<string> {
  if (file !== undefined) return readFile(resolve(tool.environment.folder, file))
  const isOpen = value !== undefined && value !== '-' && !encrypted
  return isOpen ? value : readSecret(tool, value, { question: `Type the value of ${name}.`, option: name })
}

function readFile(path: string): string {
  const stats = statOrNull(path)
  if (stats?.isDirectory() ?? true) throw noFile(path)
  if ((stats?.size ?? 0) > mostBytes + 2) throw usage(`${path} has more than ${mostBytes / 1024} KiB.`)
  const bytes = readFileSync(path)
  const text = bytes.toString('utf8')
  if (!Buffer.from(text).equals(bytes)) throw usage(`${path} is no text in UTF-8.`)
  return text.replace(/\r?\n$/, '')
}
