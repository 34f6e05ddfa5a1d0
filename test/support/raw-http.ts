import { connect, type Socket } from 'node:net'

/** One answer as it came over the wire. Header names are lower-case; a repeated header has several values. */
export interface RawAnswer {
  status: number
  headers: Readonly<Record<string, readonly string[]>>
  body: Buffer
}

/** A TCP connection that says exactly what it is told to: HTTP clients tidy up what attackers do not. */
export interface RawConnection {
  write(bytes: string | Uint8Array): void
  /** The next answer. `method` is that of the request: an answer to HEAD has no body whatever its length header says. */
  answer(method?: string): Promise<RawAnswer>
  /** Resolves when the server has ended the connection. */
  closed(): Promise<void>
  /** Stops reading: what the server writes stays with it. */
  pause(): void
  /** How many bytes have arrived. */
  received(): number
  destroy(): void
}

const patienceMs = 30_000

/** Opens a connection to the loopback port. Text is sent as Latin-1, so that any byte can be written. */
export async function rawConnection(port: number): Promise<RawConnection> {
  const socket = connect(port, '127.0.0.1')
  const inbox = receive(socket)
  await new Promise<void>((resolve, reject) => socket.once('connect', resolve).once('error', reject))
  return {
    write(bytes) {
      socket.write(typeof bytes === 'string' ? Buffer.from(bytes, 'latin1') : bytes)
    },
    answer: (method = 'GET') => inbox.until((bytes, ended) => takeAnswer(bytes, ended, method)),
    async closed() {
      await inbox.until((_bytes, ended) => (ended ? { value: true, used: 0 } : null))
    },
    pause: () => void socket.pause(),
    received: () => socket.bytesRead,
    destroy: () => socket.destroy(),
  }
}

/** Sends the bytes on a connection of their own and reads one answer. */
export async function rawRequest(port: number, bytes: string | Uint8Array): Promise<RawAnswer> {
  const connection = await rawConnection(port)
  try {
    connection.write(bytes)
    return await connection.answer(Buffer.from(bytes).subarray(0, 5).toString() === 'HEAD ' ? 'HEAD' : 'GET')
  } finally {
    connection.destroy()
  }
}

interface Taken<Value> {
  value: Value
  used: number
}

/** Collects what arrives; `until` waits for `take` to find something in it and drops the bytes that it used. */
function receive(socket: Socket): {
  until<Value>(take: (bytes: Buffer, ended: boolean) => Taken<Value> | null): Promise<Value>
} {
  let bytes = Buffer.alloc(0)
  let ended = false
  let wake: () => void = () => {}
  socket.on('data', (chunk) => {
    bytes = Buffer.concat([bytes, chunk])
    wake()
  })
  socket.on('error', () => {})
  socket.on('close', () => {
    ended = true
    wake()
  })

  return {
    until(take) {
      return new Promise((resolve, reject) => {
        const timer = setTimeout(() => reject(new Error(`no answer, only: ${bytes.toString('latin1')}`)), patienceMs)
        wake = () => {
          const taken = take(bytes, ended)
          if (taken === null && !ended) return
          clearTimeout(timer)
          wake = () => {}
          if (taken === null) return reject(new Error(`the connection ended after: ${bytes.toString('latin1')}`))
          bytes = bytes.subarray(taken.used)
          resolve(taken.value)
        }
        wake()
      })
    },
  }
}

function takeAnswer(bytes: Buffer, ended: boolean, method: string): Taken<RawAnswer> | null {
  const end = bytes.indexOf('\r\n\r\n')
  if (end === -1) return null
  const [statusLine = '', ...lines] = bytes.subarray(0, end).toString('latin1').split('\r\n')
  const status = Number(statusLine.split(' ')[1])
  const headers: Record<string, string[]> = {}
  for (const line of lines) {
    const colon = line.indexOf(':')
    const name = line.slice(0, colon).toLowerCase()
    headers[name] = [...(headers[name] ?? []), line.slice(colon + 1).trim()]
  }
  // 100 Continue comes before the answer.
  const rest = bytes.subarray(end + 4)
  if (status < 200) {
    const next = takeAnswer(rest, ended, method)
    return next && { value: next.value, used: next.used + end + 4 }
  }
  const body = method === 'HEAD' || status === 204 || status === 304 ? none : takeBody(rest, ended, headers)
  return body && { value: { status, headers, body: body.value }, used: end + 4 + body.used }
}

const none: Taken<Buffer> = { value: Buffer.alloc(0), used: 0 }

/** RFC 9112 §6.3 */
function takeBody(rest: Buffer, ended: boolean, headers: Readonly<Record<string, string[]>>): Taken<Buffer> | null {
  if (headers['transfer-encoding']?.[0] === 'chunked') return takeChunks(rest)
  const length = headers['content-length']?.[0]
  if (length === undefined) return ended ? { value: rest, used: rest.length } : null
  const size = Number(length)
  return rest.length < size ? null : { value: Buffer.from(rest.subarray(0, size)), used: size }
}

function takeChunks(rest: Buffer): Taken<Buffer> | null {
  const chunks: Buffer[] = []
  for (let at = 0; ; ) {
    const line = rest.indexOf('\r\n', at)
    if (line === -1) return null
    const size = Number.parseInt(rest.subarray(at, line).toString('latin1'), 16)
    const after = line + 2 + size + 2
    if (rest.length < after) return null
    if (size === 0) return { value: Buffer.concat(chunks), used: after }
    chunks.push(rest.subarray(line + 2, line + 2 + size))
    at = after
  }
}
