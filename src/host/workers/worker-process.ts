import { type ChildProcess, fork } from 'node:child_process'
import type { FrontMessage, WorkerMessage } from './tasks.js'

/** The process of a worker. A thread would not do: one that runs out of memory can end the process around it. */
export interface WorkerProcess {
  post(message: FrontMessage): void
  /** Resolves when it has ended. */
  kill(): Promise<void>
}

/** How much a worker may use. */
export const memoryMegabytes = 256

/** How a worker ended. */
export interface WorkerEnd {
  outOfMemory: boolean
  /** Its exit code or signal, or the name of an error. */
  reason: string
  error?: Error
}

/** @param on `ended` is called also after `kill` */
export function startProcess(
  program: URL,
  on: { receive(message: WorkerMessage): void; ended(end: WorkerEnd): void },
): WorkerProcess {
  const child = spawn(program)
  const exited = new Promise<void>((resolve) => child.once('exit', () => resolve()).once('error', () => resolve()))
  child.on('message', on.receive)
  child.once('error', (error) => on.ended({ outOfMemory: false, reason: error.name, error }))
  child.once('exit', (code, signal) => {
    on.ended({ outOfMemory: ranOutOfMemory(code, signal), reason: signal ?? `exit ${code}` })
  })
  return {
    // Without a callback, a process that has just ended would be an error.
    post: (message) => void (child.connected && child.send(message, () => {})),
    async kill() {
      child.kill('SIGKILL')
      await exited
    },
  }
}

/** Node aborts when its heap is full; the kernel kills when the machine is. */
function ranOutOfMemory(code: number | null, signal: NodeJS.Signals | null): boolean {
  return signal === 'SIGABRT' || signal === 'SIGKILL' || signal === 'SIGTRAP' || code === 134
}

function spawn(program: URL): ChildProcess {
  return fork(program, [], {
    execArgv: [`--max-old-space-size=${memoryMegabytes}`],
    // The environment of the host may hold secrets.
    env: {},
    serialization: 'advanced',
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
  })
}
