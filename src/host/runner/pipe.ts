import { EventEmitter, once } from 'node:events'
import { Socket } from 'node:net'

/** The pipe to the front, on descriptor 3. From the child it takes lines of at most 4 KiB. */
export interface Pipe {
  /** The first line. Never settles when the pipe ends before it; `onClosed` is called then. */
  readLine(): Promise<string>
  write(message: Readonly<Record<string, unknown>>): void
}

const descriptor = 3

interface PipeListener {
  /** The front closes the pipe or dies. */
  onClosed(): void
  /** The front asks the child to end after its running requests. */
  onEnd(): void
}

export function openPipe({ onClosed, onEnd }: PipeListener): Pipe {
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
