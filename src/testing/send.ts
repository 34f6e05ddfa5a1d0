import { request as httpRequest } from 'node:http'
import { request as httpsRequest } from 'node:https'
import type { Principal } from '../model/principal.js'

/** What goes out. */
export interface Outgoing {
  method: string
  url: URL
  headers: Readonly<Record<string, string>>
  body: string | null
}

/** What comes back. */
export interface Incoming {
  status: number
  headers: Headers
  text: string
}

export type Send = (outgoing: Outgoing) => Promise<Incoming>

/** What lies behind the guard when an `Auth` is asked directly. */
export type Next = (request: Request, principal: Principal | null) => Response | Promise<Response>

/** The part of `Auth` that the client uses. */
export interface FetchTarget {
  fetch(request: Request, options?: { ip?: string; next?: Next }): Promise<Response>
}

/** Asks an `Auth` without a socket. */
export function throughAuth(auth: FetchTarget, ip: string, next: Next | undefined): Send {
  return async ({ method, url, headers, body }) => {
    const request = new Request(url, { method, headers, body, redirect: 'manual' })
    const response = await auth.fetch(request, next ? { ip, next } : { ip })
    return { status: response.status, headers: response.headers, text: await response.text() }
  }
}

/** Asks a server. Not through `fetch`, which writes `Sec-Fetch-Mode` itself and could not play a navigation. */
export function overHttp({ method, url, headers, body }: Outgoing): Promise<Incoming> {
  const request = url.protocol === 'https:' ? httpsRequest : httpRequest
  const length = body === null ? {} : { 'content-length': String(Buffer.byteLength(body)) }
  return new Promise((resolve, reject) => {
    const outgoing = request(url, { method, headers: { ...headers, ...length } }, async (response) => {
      try {
        const chunks: Uint8Array[] = []
        for await (const chunk of response) chunks.push(chunk)
        const text = Buffer.concat(chunks).toString('utf8')
        resolve({ status: response.statusCode ?? 0, headers: headersOf(response.rawHeaders), text })
      } catch (error) {
        reject(error)
      }
    })
    outgoing.on('error', reject)
    outgoing.end(body ?? undefined)
  })
}

function headersOf(raw: readonly string[]): Headers {
  const headers = new Headers()
  for (let index = 0; index + 1 < raw.length; index += 2) headers.append(raw[index] ?? '', raw[index + 1] ?? '')
  return headers
}
