import { execFile } from 'node:child_process'
import type { Dirent } from 'node:fs'
import { access, lstat, readdir, readFile, statfs } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'

/** What the kernel says of a process. Null when the process is gone. */
export interface ProcessFacts {
  /** When it began, as a text that no other process with this id has. */
  startOf(pid: number): Promise<string | null>
  /** Memory that it occupies, in bytes. */
  memoryOf(pid: number): Promise<number | null>
}

/** Reads `/proc`. On a system without `/proc` it asks `ps`. */
export async function openProcessFacts(): Promise<ProcessFacts> {
  try {
    await access('/proc/self/stat')
    const bootId = (await readFile('/proc/sys/kernel/random/boot_id', 'utf8')).trim()
    return { startOf: (pid) => procStart(pid, bootId), memoryOf: procMemory }
  } catch {
    return { startOf: (pid) => askPs(pid, 'lstart'), memoryOf: psMemory }
  }
}

/** Field 22 of `stat` counts from the start of the machine. The name in field 2 may hold blanks and brackets. */
async function procStart(pid: number, bootId: string): Promise<string | null> {
  const stat = await readProc(pid, 'stat')
  const ticks = stat?.slice(stat.lastIndexOf(')') + 2).split(' ')[19]
  return ticks === undefined ? null : `${ticks}@${bootId}`
}

/** In kB, while `statm` counts in pages of a size that Node does not know. */
async function procMemory(pid: number): Promise<number | null> {
  const [, kilobytes] = /^VmRSS:\s+(\d+) kB$/m.exec((await readProc(pid, 'status')) ?? '') ?? []
  return kilobytes === undefined ? null : Number(kilobytes) * 1024
}

async function psMemory(pid: number): Promise<number | null> {
  const kilobytes = Number((await askPs(pid, 'rss')) ?? Number.NaN)
  return Number.isNaN(kilobytes) ? null : kilobytes * 1024
}

async function readProc(pid: number, name: string): Promise<string | null> {
  try {
    return await readFile(`/proc/${pid}/${name}`, 'utf8')
  } catch {
    return null
  }
}

async function askPs(pid: number, column: string): Promise<string | null> {
  try {
    const { stdout } = await promisify(execFile)('ps', ['-o', `${column}=`, '-p', String(pid)])
    return stdout.trim() === '' ? null : stdout.trim()
  } catch {
    return null
  }
}

/** An entry occupies this much even when it is empty: many small files fill a disk too. */
const entryBytes = 4 * 1024
const blockBytes = 512

/**
 * Whether file systems that only a sandbox has hold more entries than fit into `most` bytes. They bound the content of files
 * themselves, but an empty file takes memory of the kernel too. Also true when they cannot be read, as those of a process that
 * hides itself.
 */
export async function areEntriesMany(paths: readonly string[], most: number): Promise<boolean> {
  let entries = 0
  for (const path of paths) {
    const system = await statfs(path).catch(() => null)
    if (system === null) return true
    entries += system.files - system.ffree
  }
  return entries * entryBytes > most
}

/** Whether a folder occupies more than `most` bytes. It stops counting there, so a full folder costs no more than its limit. */
export async function isFolderLarger(path: string, most: number): Promise<boolean> {
  const folders = [path]
  let bytes = 0
  for (let folder = folders.pop(); folder !== undefined; folder = folders.pop()) {
    for (const entry of await entriesOf(folder)) {
      bytes += entryBytes
      const place = join(folder, entry.name)
      if (entry.isDirectory()) folders.push(place)
      else if (entry.isFile()) bytes += await occupied(place)
      if (bytes > most) return true
    }
  }
  return false
}

async function entriesOf(folder: string): Promise<Dirent[]> {
  try {
    return await readdir(folder, { withFileTypes: true })
  } catch {
    // Removed meanwhile.
    return []
  }
}

async function occupied(path: string): Promise<number> {
  try {
    return (await lstat(path)).blocks * blockBytes
  } catch {
    return 0
  }
}
