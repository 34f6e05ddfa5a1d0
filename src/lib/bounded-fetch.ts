import type { World } from './runtime.js'

export interface BoundedRequest {
  url: string
  headers: Readonly<Record<string, string>>
  /** Given, it is a POST of this text; its type stands in the headers. */
  body?: string
  /** For the whole of it: connecting, waiting and reading. */
  limitMs: number
  limitBytes: number
}

/** Why there was no answer to be had. */
export type FetchFaultReason = 'unreachable' | 'too_slow' | 'bad_status' | 'too_big' | 'private_address'

/** The other side gave no usable answer. It names the kind of fault and nothing of the request. */
export class FetchFault extends Error {
  readonly reason: FetchFaultReason

  constructor(reason: FetchFaultReason) {
    super(reason)
    this.name = 'FetchFault'
    this.reason = reason
  }
}

export interface BoundedAnswer {
  status: number
  headers: Response['headers']
  text: string
}

/**
 * Like `fetchAnswer`, where only an answer of 200 counts.
 *
 * @throws {FetchFault}
 */
export async function fetchText(world: Pick<World, 'fetch' | 'timer'>, request: BoundedRequest): Promise<string> {
  return (await fetchAnswer(world, { ...request, readable: [200] })).text
}

/**
 * Gets a text from somebody else's server, which may be down, slow or hostile: one time limit over everything, a limit
 * on the bytes once unpacked, and no body read but that of a status in `readable`; any other status is a fault. Redirects
 * are not followed, so that nobody can send the request elsewhere (ASVS 5.0, 15.2.2 and 15.3.2).
 *
 * @throws {FetchFault}
 */
export async function fetchAnswer(
  world: Pick<World, 'fetch' | 'timer'>,
  request: BoundedRequest & { readable: readonly number[] },
): Promise<BoundedAnswer> {
  const abort = new AbortController()
  let cancel = () => {}
  const tooSlow = new Promise<never>((_resolve, reject) => {
    cancel = world.timer(request.limitMs, () => reject(new FetchFault('too_slow')))
  })
  try {
    // Not every fetch of a host heeds the signal, so the limit does not rest on it.
    return await Promise.race([readAnswer(world.fetch, request, abort.signal), tooSlow])
  } finally {
    cancel()
    abort.abort() // what is left of the connection
  }
}

async function readAnswer(
  fetch: World['fetch'],
  request: BoundedRequest & { readable: readonly number[] },
  signal: AbortSignal,
): Promise<BoundedAnswer> {
  const { url, headers, body } = request
  try {
    const sent = body === undefined ? {} : { method: 'POST', body }
    const answer = await fetch(url, { ...sent, headers, redirect: 'manual', signal })
    if (!request.readable.includes(answer.status)) throw new FetchFault('bad_status')
    return { status: answer.status, headers: answer.headers, text: await readBody(answer.body, request.limitBytes) }
  } catch (error) {
    // An error of fetch may quote the address, which is the caller's to tell.
    throw error instanceof FetchFault ? error : new FetchFault('unreachable')
  }
}

async function readBody(body: Response['body'], limitBytes: number): Promise<string> {
  if (body === null) return ''
  const reader = body.getReader()
  const chunks: Uint8Array[] = []
  let size = 0
  for (;;) {
    const { done, value } = await reader.read()
    if (done) return Buffer.concat(chunks).toString()
    size += value.byteLength
    if (size > limitBytes) throw new FetchFault('too_big')
    chunks.push(value)
  }
}
