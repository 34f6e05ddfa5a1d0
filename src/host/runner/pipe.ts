import { Socket } from 'node:net'

/** The pipe to the front, on descriptor 3. From the child it takes lines of at most 4 KiB. */
export interface Pipe {
  /** The first line. Never settles when the pipe ends before it; `onEnd` is called then. */
  readLine(): Promise<string>
  write(message: Readonly<Record<string, unknown>>): void
}

const descriptor = 3

/** @param onEnd called when the front closes the pipe or dies */
export function openPipe(onEnd: () => void): Pipe {
  const socket = new Socket({ fd: descriptor, readable: true, writable: true })
  socket.setEncoding('utf8')
  // A front that died shows as an error of the next write too.
  socket.on('error', onEnd)
  socket.on('end', onEnd)
  socket.on('close', onEnd)
  return {
    readLine: () =>
      new Promise((resolve) => {
        let text = ''
        const read = (chunk: string): void => {
          text += chunk
          const end = text.indexOf('\n')
          if (end === -1) return
          socket.off('data', read)
          // The pipe is read on, so that its end is noticed.
          socket.resume()
          resolve(text.slice(0, end))
        }
        socket.on('data', read)
      }),
    write: (message) => void socket.write(`${JSON.stringify(message)}\n`),
  }
}
