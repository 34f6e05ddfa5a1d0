import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { SettingsError } from '../../errors.js'
import type { RandomSource } from '../../lib/random.js'
import { sleep } from '../../lib/runtime.js'
import { hasCode } from '../has-code.js'
import type { ProcessFacts } from './process-facts.js'

/** Sockets and pid files of the children. Its content means nothing to the next start of the host. */
export interface RunFolder {
  /** A path that no other process can guess, new with each call. */
  newSocketPath(): string
  /** Notes a process, so that the next start of the host can end what this one leaves behind. Returns the path of the note. */
  note(spaceId: string, pid: number): Promise<string>
  /** Removes sockets and notes. Missing ones are no fault. */
  remove(paths: readonly string[]): Promise<void>
}

/** Folders in it with a name that begins so are of first tries of the sandbox. */
export const probePrefix = 'probe-'

/** The kernel's bound less the zero byte at its end. Node cuts longer paths silently, so two spaces would share a socket. */
const longestPathBytes = 103
/** 16 bytes as base64url. */
const nameLength = 22
/** How long a killed process may take to go. */
const endTries = 100
const endPauseMs = 20

/**
 * Opens the folder and ends the children that an earlier host left behind: a process is killed only when its id and its start
 * both match.
 *
 * @param path absolute
 * @throws {SettingsError} The path makes sockets longer than 103 bytes
 */
export async function openRunFolder(path: string, random: RandomSource, facts: ProcessFacts): Promise<RunFolder> {
  const socketPath = (name: string) => join(path, `${name}.sock`)
  const bytes = Buffer.byteLength(socketPath('x'.repeat(nameLength)))
  if (bytes > longestPathBytes) {
    const message = `The path of a socket in "${path}" has ${bytes} bytes, and ${longestPathBytes} are allowed. Use a shorter path.`
    throw new SettingsError([{ setting: 'data', message }])
  }
  await mkdir(path, { recursive: true, mode: 0o700 })
  await sweep(path, facts)
  let count = 0
  return {
    newSocketPath: () => socketPath(random.id()),
    async note(spaceId, pid) {
      count += 1
      const file = join(path, `${spaceId}-${count}.pid`)
      await writeFile(file, `${pid} ${(await facts.startOf(pid)) ?? ''}\n`, { mode: 0o600 })
      return file
    },
    async remove(paths) {
      for (const each of paths) await rm(each, { force: true })
    },
  }
}

async function sweep(path: string, facts: ProcessFacts): Promise<void> {
  for (const name of await readdir(path)) {
    if (name.endsWith('.pid')) await endLeftover(await readFile(join(path, name), 'utf8'), facts)
    const isOver = /\.(pid|sock|upload)$/.test(name) || name.startsWith(probePrefix)
    if (isOver) await rm(join(path, name), { recursive: true, force: true })
  }
}

async function endLeftover(note: string, facts: ProcessFacts): Promise<void> {
  const [, pid, start] = /^([1-9]\d*) (.+)\n$/.exec(note) ?? []
  if (pid === undefined) return
  const isIt = async () => (await facts.startOf(Number(pid))) === start
  if (!(await isIt())) return
  try {
    process.kill(Number(pid), 'SIGKILL')
  } catch (error) {
    // Gone meanwhile, or of another user and so none of ours.
    if (!hasCode(error, 'ESRCH', 'EPERM')) throw error
    return
  }
  for (let tries = 0; tries < endTries && (await isIt()); tries += 1) await sleep(endPauseMs)
}
