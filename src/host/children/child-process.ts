import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { Duplex, type Readable } from 'node:stream'
import { parseJsonObject } from '../../lib/json-object.js'
import type { World } from '../../lib/runtime.js'
import type { StartOptions } from '../runner/start-options.js'
import { type Blanker, createBlanker } from './blank-secrets.js'
import type { Command } from './isolation.js'
import type { OpenLog } from './logs.js'
import { type ChildEnd, readStatus, type SandboxStatus } from './sandbox.js'

interface SpawnOptions {
  command: Command
  options: StartOptions
  log: OpenLog
  /** The largest descriptor that this process would hand on. */
  lastInherited: number
  world: Pick<World, 'monotonic' | 'timer'>
  /** How long bubblewrap may take to make the sandbox, in milliseconds. */
  startMs: number
  /** Gives that up. */
  signal: AbortSignal
  onHeartbeat(): void
}

/** A process, before and after it serves. */
export interface SpawnedChild {
  /** Of the process that runs the application. */
  pid: number
  /** Of the process that this one started: in a sandbox, that of bubblewrap. */
  ownPid: number
  /** It says that it listens, and what of its application is not run. A hostile bundle may say anything. */
  listening: Promise<readonly string[]>
  /** The first lines of stderr, without secrets. */
  errors: readonly string[]
  /** The process is gone. null: the sandbox around it came to an end by itself. */
  exited: Promise<ChildEnd | null>
  /** The process is gone, and all that it printed has been read. */
  closed: Promise<void>
  /** Ends it at once; the reason goes into the log. */
  kill(reason: string): void
  /** Asks it to end after its running requests. */
  terminate(): void
  isGone(): boolean
  /** Why `kill` was called; null when it was not. */
  killedFor(): string | null
  /** bubblewrap had not made the sandbox in time, and was ended. */
  isSandboxLate: boolean
}

const keptErrors = 200
/** Of what the application registers in vain. */
const mostNames = 40
const longestName = 100
const pipeGraceMs = 1_000

/**
 * Starts the process and sends it what it needs over the pipe, so that no value of the space stands in its arguments or its
 * first environment.
 *
 * Rejects when the system has no process left.
 */
export async function spawnChild(options: SpawnOptions): Promise<SpawnedChild> {
  const { command, log, world, onHeartbeat } = options
  const child = spawn(command.file, command.args, {
    cwd: command.cwd,
    env: command.env,
    stdio: descriptorsOf(options),
    // Without a terminal: Ctrl-C is for the host, which lets running requests end.
    detached: true,
  })
  const exit = new Promise<ChildEnd>((resolve) => child.once('exit', (code, signal) => resolve({ code, signal })))
  const closed = new Promise<void>((resolve) => child.once('close', () => resolve()))
  await once(child, 'spawn')
  child.on('error', () => {})
  const status = command.sandbox === null ? null : openSandbox(child, command.sandbox)

  let reason: string | null = null
  let pid = child.pid ?? 0
  const isGone = () => child.exitCode !== null || child.signalCode !== null
  function kill(why: string): void {
    if (reason !== null || isGone()) return
    reason = why
    log.note('error', `Latchkey: the process was ended. ${why}`)
    // bubblewrap lives, so the id of the process in it is not that of another one by now.
    if (pid !== child.pid) endProcess(pid)
    child.kill('SIGKILL')
  }

  const errors = readOutput(child, log, createBlanker(secretsOf(options.options)))
  const pipe = pipeOf(child, 3)
  const listening = new Promise<readonly string[]>((resolve) => {
    readPipe(pipe, {
      monotonic: world.monotonic,
      onMessage(kind, { notRun }) {
        if (kind === 'listening') resolve(textsIn(notRun))
        if (kind === 'heartbeat') onHeartbeat()
      },
      onFlood: () => kill('It sent too much to the host.'),
      // Most often it has just ended.
      onEnd: () => void world.timer(pipeGraceMs, () => kill('It closed its pipe to the host.')),
    })
  })
  pipe.write(`${JSON.stringify(options.options)}\n`)
  const made = status === null ? null : await pidInTime(status, () => child.kill('SIGKILL'), options)
  pid = made?.pid ?? pid
  return {
    pid,
    ownPid: child.pid ?? 0,
    listening,
    errors,
    exited: endOf(exit, status, () => reason !== null),
    closed,
    kill,
    // A signal would end bubblewrap, and the application with it.
    terminate: () => void pipe.write('end\n'),
    isGone,
    killedFor: () => reason,
    isSandboxLate: made?.isLate ?? false,
  }
}

type Descriptor = 'ignore' | 'pipe'

/** The child gets `/dev/null` for what it would inherit. */
function descriptorsOf({ command, lastInherited }: SpawnOptions): Descriptor[] {
  const used: Descriptor[] = ['ignore', 'pipe', 'pipe', 'pipe']
  if (command.sandbox !== null) used.push('pipe', 'pipe', 'pipe')
  while (used.length <= lastInherited) used.push('ignore')
  return used
}

function openSandbox(child: ChildProcess, { args, filter }: NonNullable<Command['sandbox']>): SandboxStatus {
  feed(pipeOf(child, 4), args)
  feed(pipeOf(child, 5), filter)
  return readStatus(pipeOf(child, 6))
}

/** Without bubblewrap its report ends, and the start fails as one whose sandbox came to an end. */
async function pidInTime(
  status: SandboxStatus,
  end: () => void,
  { world, startMs, signal }: SpawnOptions,
): Promise<{ pid: number | null; isLate: boolean }> {
  let isLate = false
  const cancel = world.timer(startMs, () => {
    isLate = true
    end()
  })
  signal.addEventListener('abort', end, { once: true })
  if (signal.aborted) end()
  const pid = await status.pid
  cancel()
  signal.removeEventListener('abort', end)
  return { pid, isLate }
}

function pipeOf({ stdio }: ChildProcess, descriptor: number): Duplex {
  const pipe: unknown = Array.from<unknown>(stdio)[descriptor]
  if (!(pipe instanceof Duplex)) throw new TypeError('The child has no pipe.')
  return pipe
}

function feed(pipe: Duplex, bytes: Buffer): void {
  // The process may have ended before it has read all.
  pipe.on('error', () => {})
  pipe.end(bytes)
}

function endOf(exit: Promise<ChildEnd>, status: SandboxStatus | null, isKilled: () => boolean) {
  if (status === null) return exit
  return Promise.all([exit, status.end]).then(([ended, end]) => end ?? (isKilled() ? ended : null))
}

function endProcess(pid: number): void {
  // 0 and below name groups of processes, this one's own among them.
  if (pid <= 1) return
  try {
    process.kill(pid, 'SIGKILL')
  } catch {
    // Gone.
  }
}

function secretsOf({ env, keys }: StartOptions): string[] {
  return [...Object.values(env), ...Object.values(keys)]
}

/** The deploy answers them, so they are bounded and hold no control characters. */
function textsIn(value: unknown): string[] {
  const texts = Array.isArray(value) ? value.filter((each) => typeof each === 'string' && each !== '') : []
  return texts.slice(0, mostNames).map((text: string) => text.replaceAll(/\p{C}/gu, ' ').slice(0, longestName))
}

function readOutput(child: ChildProcess, log: OpenLog, blanker: Blanker): readonly string[] {
  const errors: string[] = []
  if (child.stdout) log.read(child.stdout, 'info', blanker)
  if (child.stderr) {
    log.read(child.stderr, 'error', blanker, (line) => {
      if (errors.length < keptErrors) errors.push(line)
    })
  }
  return errors
}

/** What a child may send to its supervisor. */
const pipeLimits = { lineBytes: 4 * 1024, linesPerSecond: 50 }

interface PipeReader {
  /** Milliseconds from an arbitrary start. */
  monotonic(): number
  /** A line with a field `kind`. Lines of another form are ignored. */
  onMessage(kind: string, fields: Readonly<Record<string, unknown>>): void
  /** The child has broken a limit. Nothing is read from the pipe any more. */
  onFlood(): void
  onEnd(): void
}

/** Reads the lines of a child, which may be hostile: what is held of them stays below 70 KiB. */
export function readPipe(pipe: Readable, { monotonic, onMessage, onFlood, onEnd }: PipeReader): void {
  let rest = Buffer.alloc(0)
  let second = monotonic()
  let lines = 0

  function isTooMuch(bytes: number): boolean {
    if (monotonic() - second >= 1_000) [second, lines] = [monotonic(), 0]
    lines += 1
    return bytes > pipeLimits.lineBytes || lines > pipeLimits.linesPerSecond
  }

  function flood(): void {
    rest = Buffer.alloc(0)
    pipe.removeAllListeners('data')
    pipe.destroy()
    onFlood()
  }

  pipe.on('data', (chunk: Buffer) => {
    const bytes = Buffer.concat([rest, chunk])
    let start = 0
    for (let end = bytes.indexOf(10); end !== -1; end = bytes.indexOf(10, start)) {
      if (isTooMuch(end - start)) return flood()
      const fields = parseJsonObject(bytes.toString('utf8', start, end)) ?? {}
      if (typeof fields.kind === 'string') onMessage(fields.kind, fields)
      start = end + 1
    }
    rest = Buffer.from(bytes.subarray(start))
    if (rest.length > pipeLimits.lineBytes) flood()
  })
  // A child that dies while it is written to shows as an error.
  pipe.on('error', () => {})
  pipe.once('close', onEnd)
  pipe.once('end', onEnd)
}
