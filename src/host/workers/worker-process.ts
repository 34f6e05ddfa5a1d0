import { type ChildProcess, fork } from 'node:child_process'
import { queryInvalid, type StoreError } from '../documents/store-error.js'
import { unavailable } from '../storage/faults.js'
import type { FrontMessage, WorkerMessage } from './tasks.js'

/** The process of a worker. A thread would not do: one that runs out of memory can end the process around it. */
export interface WorkerProcess {
  post(message: FrontMessage): void
  /** Resolves when it has ended. */
  kill(): Promise<void>
}

const memoryMegabytes = 256

/** @param on `ended` is called with an exit code or signal, also after `kill` */
export function startProcess(
  program: URL,
  on: { receive(message: WorkerMessage): void; ended(fault: StoreError, reason: string): void },
): WorkerProcess {
  const child = spawn(program)
  const exited = new Promise<void>((resolve) => child.once('exit', () => resolve()).once('error', () => resolve()))
  child.on('message', on.receive)
  child.once('error', (error) => on.ended(unavailable(error), error.name))
  child.once('exit', (code, signal) => on.ended(faultOf(code, signal), signal ?? `exit ${code}`))
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
function faultOf(code: number | null, signal: NodeJS.Signals | null): StoreError {
  const isMemory = signal === 'SIGABRT' || signal === 'SIGKILL' || signal === 'SIGTRAP' || code === 134
  if (!isMemory) return unavailable()
  return queryInvalid(
    `The query needs more than ${memoryMegabytes} MiB of memory. Set a limit, or sort and group fewer documents.`,
  )
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
