import { request } from 'node:http'
import type { Readable } from 'node:stream'
import { hopHeader, principalHeader } from './hop.js'

interface InternalFetchOptions {
  socketPath: string
  hopKey: string
  /** `/dev` */
  spacePath: string
}

/**
 * `app.internalFetch` of codehooks-js within the own space: the request goes to this child itself, without a principal, so the
 * auth hooks decide. The host of the URL does not matter.
 *
 * @throws {TypeError} for an address outside the space
 */
export function createInternalFetch({ socketPath, hopKey, spacePath }: InternalFetchOptions) {
  return async (url: string, options: RequestInit = {}): Promise<Response> => {
    const asked = new Request(new URL(url, 'http://space.invalid'), { ...options, duplex: 'half' })
    const { pathname, search } = new URL(asked.url)
    if (!`${pathname}/`.startsWith(`${spacePath}/`)) {
      throw new TypeError(`internalFetch reaches only addresses below ${spacePath}.`)
    }
    const { [hopHeader]: _hop, [principalHeader]: _principal, ...headers } = Object.fromEntries(asked.headers)
    const body = asked.body === null ? null : Buffer.from(await asked.arrayBuffer())
    return new Promise((resolve, reject) => {
      const sent = request(
        { socketPath, method: asked.method, path: pathname + search, headers: { ...headers, [hopHeader]: hopKey } },
        (response) => {
          const { statusCode = 502, headersDistinct } = response
          const given = Object.entries(headersDistinct).flatMap(([name, values = []]) =>
            values.map((value): [string, string] => [name, value]),
          )
          const empty = asked.method === 'HEAD' || [204, 205, 304].includes(statusCode)
          if (empty) response.resume()
          resolve(new Response(empty ? null : bodyOf(response), { status: statusCode, headers: given }))
        },
      )
      sent.on('error', reject)
      sent.end(body)
    })
  }
}

async function* chunksOf(response: Readable): AsyncGenerator<Uint8Array, void, undefined> {
  for await (const chunk of response) if (chunk instanceof Uint8Array) yield chunk
}

function bodyOf(response: Readable): ReadableStream<Uint8Array> {
  const chunks = chunksOf(response)
  return new ReadableStream({
    async pull(controller) {
      const { done, value } = await chunks.next()
      if (done) controller.close()
      else controller.enqueue(value)
    },
    cancel: () => void response.destroy(),
  })
}
