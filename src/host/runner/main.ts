import { EventEmitter, once } from 'node:events'
import { Socket } from 'node:net'
import { closeBuiltIns } from './built-ins.js'
import { ignoreDebugger } from './ignore-debugger.js'
import { logFault, start } from './start.js'
import { readStartOptions } from './start-options.js'

/** Of the pipe to the front. */
const descriptor = 3
/** The front kills a child that sends no heartbeat for 10 s. */
const heartbeatMs = 1_000
/** The exit code of a release that cannot start. */
const failed = 1

ignoreDebugger()
const pipe = openPipe({
  onClosed: () => process.exit(0),
  // As a signal, because applications may listen for it too. In a sandbox the signal itself would end bubblewrap.
  onEnd: () => void process.emit('SIGTERM', 'SIGTERM'),
})

async function run(): Promise<void> {
  closeBuiltIns()
  const { server, notRun } = await start(readStartOptions(await pipe.readLine()))
  // An unhandled rejection ends the start. Later ones are only logged: applications of the platform have many of them.
  process.on('unhandledRejection', logFault)
  process.on('SIGTERM', () => {
    server.close(() => process.exit(0))
    server.closeIdleConnections()
  })
  pipe.write({ kind: 'listening', notRun })
  setInterval(() => pipe.write({ kind: 'heartbeat' }), heartbeatMs)
}

run().catch((error: unknown) => {
  logFault(error)
  process.exit(failed)
})

/** The pipe to the front. From the child it takes lines of at most 4 KiB. */
interface Pipe {
  /** The first line. Never settles when the pipe ends before it; `onClosed` is called then. */
  readLine(): Promise<string>
  write(message: Readonly<Record<string, unknown>>): void
}

interface PipeListener {
  /** The front closes the pipe or dies. */
  onClosed(): void
  /** The front asks the child to end after its running requests. */
  onEnd(): void
}

function openPipe({ onClosed, onEnd }: PipeListener): Pipe {
  const socket = new Socket({ fd: descriptor, readable: true, writable: true })
  socket.setEncoding('utf8')
  // A front that died shows as an error of the next write too.
  socket.on('error', onClosed)
  socket.on('end', onClosed)
  socket.on('close', onClosed)
  let text = ''
  const lines = new EventEmitter()
  lines.once('line', () => lines.on('line', (line) => line === 'end' && onEnd()))
  socket.on('data', (chunk: string) => {
    const parts = (text + chunk).split('\n')
    text = parts.pop() ?? ''
    for (const line of parts) lines.emit('line', line)
  })
  const first = once(lines, 'line').then(([line]) => String(line))
  return {
    readLine: () => first,
    write: (message) => void socket.write(`${JSON.stringify(message)}\n`),
  }
}
