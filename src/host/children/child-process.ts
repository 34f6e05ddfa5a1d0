import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { Duplex } from 'node:stream'
import type { World } from '../../lib/runtime.js'
import type { StartOptions } from '../runner/start-options.js'
import { type Blanker, createBlanker } from './blank-secrets.js'
import type { Command } from './isolation.js'
import type { OpenLog } from './logs.js'
import { readPipe } from './pipe-lines.js'

interface SpawnOptions {
  command: Command
  options: StartOptions
  log: OpenLog
  world: Pick<World, 'monotonic' | 'timer'>
  onHeartbeat(): void
}

export interface ChildEnd {
  code: number | null
  signal: NodeJS.Signals | null
}

/** A process, before and after it serves. */
export interface SpawnedChild {
  pid: number
  /** It says that it listens, and what of its application is not run. A hostile bundle may say anything. */
  listening: Promise<readonly string[]>
  /** The first lines of stderr, without secrets. */
  errors: readonly string[]
  /** The process is gone. */
  exited: Promise<ChildEnd>
  /** The process is gone, and all that it printed has been read. */
  closed: Promise<void>
  /** Ends it at once; the reason goes into the log. */
  kill(reason: string): void
  /** Asks it to end after its running requests. */
  terminate(): void
  isGone(): boolean
  /** Why `kill` was called; null when it was not. */
  killedFor(): string | null
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
export async function spawnChild({ command, options, log, world, onHeartbeat }: SpawnOptions): Promise<SpawnedChild> {
  const child = spawn(command.file, command.args, {
    cwd: command.cwd,
    env: command.env,
    stdio: ['ignore', 'pipe', 'pipe', 'pipe'],
    // Without a terminal: Ctrl-C is for the host, which lets running requests end.
    detached: true,
  })
  const exited = new Promise<ChildEnd>((resolve) => child.once('exit', (code, signal) => resolve({ code, signal })))
  const closed = new Promise<void>((resolve) => child.once('close', () => resolve()))
  await once(child, 'spawn')
  child.on('error', () => {})

  let reason: string | null = null
  const isGone = () => child.exitCode !== null || child.signalCode !== null
  function kill(why: string): void {
    if (reason !== null || isGone()) return
    reason = why
    log.note('error', `Latchkey: the process was ended. ${why}`)
    child.kill('SIGKILL')
  }

  const errors = readOutput(child, log, createBlanker([...Object.values(options.env), ...Object.values(options.keys)]))
  const pipe = child.stdio[3]
  if (!(pipe instanceof Duplex)) throw new TypeError('The child has no pipe.')
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
  pipe.write(`${JSON.stringify(options)}\n`)
  return {
    pid: child.pid ?? 0,
    listening,
    errors,
    exited,
    closed,
    kill,
    terminate: () => void child.kill('SIGTERM'),
    isGone,
    killedFor: () => reason,
  }
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
