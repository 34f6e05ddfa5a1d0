import { rmSync } from 'node:fs'
import { type FileHandle, link, open, rename, rm } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import { ToolError, usage } from '../tool-error.js'
import { statOrNull } from './trusted-file.js'

/** Records between two reports of progress, and in one write. */
const batchSize = 500

/**
 * Writes records as JSONL to a new file of mode 0600. It writes beside the target and moves it there when it is whole, so a broken
 * export leaves no file that looks complete. An export that fails or is interrupted leaves none at all.
 *
 * @throws {ToolError} usage, for a file or link that is there, unless `force` replaces it
 */
export async function writeExport(
  target: { path: string; folder: string; force: boolean },
  records: AsyncIterable<unknown>,
  report: (count: number) => void,
): Promise<number> {
  const path = resolve(target.folder, target.path)
  const former = statOrNull(path)
  if (!target.force && former !== null) throw exists(path)
  // A rename would put a file in the place of a folder or a device.
  if (former !== null && !former.isFile() && !former.isSymbolicLink()) throw usage(`${path} is not a file.`)
  try {
    return await writeDraft(path, target.force, (file) => writeAll(file, records, report))
  } catch (error) {
    throw explained(error, path)
  }
}

async function writeDraft(path: string, force: boolean, write: (file: FileHandle) => Promise<number>): Promise<number> {
  const draft = `${path}.part`
  await rm(draft, { force: true })
  const file = await open(draft, 'wx', 0o600)
  // A signal ends the process without `finally`.
  const discard = () => rmSync(draft, { force: true })
  process.once('exit', discard)
  try {
    const count = await write(file)
    await file.sync()
    // A link fails where a file has appeared meanwhile, and a rename replaces it.
    if (force) await rename(draft, path)
    else await link(draft, path)
    return count
  } finally {
    await file.close()
    await rm(draft, { force: true })
    process.off('exit', discard)
  }
}

async function writeAll(
  file: FileHandle,
  records: AsyncIterable<unknown>,
  report: (count: number) => void,
): Promise<number> {
  let count = 0
  let lines: string[] = []
  const flush = async () => {
    await file.write(lines.map((line) => `${line}\n`).join(''))
    lines = []
    report(count)
  }
  for await (const record of records) {
    lines.push(JSON.stringify(record))
    count += 1
    if (lines.length === batchSize) await flush()
  }
  if (lines.length > 0) await flush()
  return count
}

/** A fault of the file in plain words. Any other error, such as one of the records, stays. */
export function explained(error: unknown, path: string): unknown {
  const code = error instanceof Error && 'code' in error ? error.code : null
  const folder = dirname(path)
  if (code === 'EEXIST') return exists(path)
  if (code === 'ENOENT' || code === 'ENOTDIR') return usage(`There is no folder ${folder}.`)
  if (code === 'EACCES' || code === 'EPERM' || code === 'EROFS') {
    return new ToolError(1, 'output_failed', `The folder ${folder} is read-only for you. Choose another one.`)
  }
  const isFull = code === 'ENOSPC' || code === 'EDQUOT'
  return isFull ? new ToolError(1, 'output_failed', `The disk of ${folder} is full. Nothing was kept.`) : error
}

export function exists(path: string) {
  return usage(`${path} exists. Choose another name, or replace it with --force.`)
}
