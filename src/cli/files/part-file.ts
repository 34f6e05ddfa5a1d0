import { type FileHandle, link, open, rename, rm } from 'node:fs/promises'
import { resolve } from 'node:path'
import { ToolError, toToolError, usage } from '../tool-error.js'
import { exists, explained } from './export-file.js'
import { statOrNull } from './trusted-file.js'

/** A file to write, as the command line names it. */
export interface Target {
  path: string
  /** The current folder. */
  folder: string
  /** Replaces a file that is there. */
  force: boolean
  /** Prints a line for people, when the command is interrupted. */
  note(line: string): void
}

/** @throws {ToolError} usage, for a file or link that is there, unless `force` replaces it */
export function requireTarget({ path: given, folder, force }: Omit<Target, 'note'>): string {
  const path = resolve(folder, given)
  const former = statOrNull(path)
  if (!force && former !== null) throw exists(path)
  // A rename would put a file in the place of a folder or a device.
  if (former !== null && !former.isFile() && !former.isSymbolicLink()) throw usage(`${path} is not a file.`)
  return path
}

/**
 * Writes a new file of mode 0600. It is `<name>.part` until it is whole. One that does not become whole stays so, and the error
 * names it, or a note when a signal ends the process.
 *
 * @throws {ToolError}
 */
export async function writePartFile(target: Target, parts: AsyncIterable<string | Uint8Array>): Promise<void> {
  const path = requireTarget(target)
  const part = `${path}.part`
  // A signal ends the process without `catch`.
  const interrupted = () => {
    if (statOrNull(part) !== null) target.note(leftIn(part))
  }
  process.once('exit', interrupted)
  try {
    await rm(part, { force: true })
    const file = await open(part, 'wx', 0o600)
    try {
      await writeAll(file, parts)
      await file.sync()
    } finally {
      await file.close()
    }
    // A link fails where a file has appeared meanwhile, and a rename replaces it.
    if (target.force) await rename(part, path)
    else {
      await link(part, path)
      await rm(part)
    }
  } catch (error) {
    throw withPart(explained(error, path), part)
  } finally {
    process.off('exit', interrupted)
  }
}

async function writeAll(file: FileHandle, parts: AsyncIterable<string | Uint8Array>): Promise<void> {
  for await (const part of parts) await file.appendFile(part)
}

function withPart(error: unknown, part: string): ToolError {
  const { exitCode, code, message, details } = toToolError(error)
  if (statOrNull(part) === null) return new ToolError(exitCode, code, message, details)
  const lines = [...(details.lines ?? []), leftIn(part)]
  return new ToolError(exitCode, code, message, { ...details, lines })
}

function leftIn(part: string): string {
  return `What arrived is in ${part}. It is not whole.`
}
