import type { ServerResponse } from 'node:http'
import type { ReleaseFiles } from '../files.js'
import { type FileRequest, holdFile } from './file-answer.js'

type Value = string | number | readonly string[]

/** The `res` of codehooks-js. Every call after the end of the answer does nothing, as on the platform. */
export interface AppResponse {
  status(code: number): AppResponse
  set(name: string, value: Value): AppResponse
  setHeader(name: string, value: Value): AppResponse
  headers(values: Readonly<Record<string, Value>>): AppResponse
  removeHeader(name: string): AppResponse
  write(data: unknown, type?: string): AppResponse
  end(data?: unknown): void
  send(data?: unknown): void
  json(value: unknown): void
  redirect(...target: readonly [number, string] | readonly [string]): void
  /** Renders a view with the engine of `app.set('view engine', …)`. */
  render(view: string, values?: unknown): void
  /** To pipe a stream into. */
  readonly writable: ServerResponse
}

/** How `app.render` of codehooks-js gives its result. */
export type Render = (view: string, values: unknown, done: (error: unknown, html?: unknown) => void) => unknown

interface ResponseOptions {
  request: FileRequest
  originOf: ReleaseFiles['originOf']
  /** null for an application without views. */
  render: Render | null
  /** Headers that the application cannot change. */
  fixed: ReadonlySet<string>
  onFault(error: unknown): void
}

export function createResponse(out: ServerResponse, options: ResponseOptions): AppResponse {
  const { render, fixed, onFault } = options
  const file = holdFile(out, options.request, options.originOf)
  const open = () => !file.isSent() && !out.writableEnded && !out.destroyed
  const set = (name: string, value: Value) => {
    if (open() && !fixed.has(name.toLowerCase())) out.setHeader(name, value)
    return res
  }
  const res: AppResponse = {
    status(code) {
      if (!Number.isInteger(code) || code < 200 || code > 599) throw new RangeError(`${code} is no HTTP status.`)
      if (open()) out.statusCode = code
      return res
    },
    set,
    setHeader: set,
    headers(values) {
      for (const [name, value] of Object.entries(values)) set(name, value)
      return res
    },
    removeHeader(name) {
      if (open() && !fixed.has(name.toLowerCase())) out.removeHeader(name)
      return res
    },
    write(data) {
      if (!open() || data === undefined || data === null || file.takes(data)) return res
      file.giveUp()
      out.write(toChunk(data, out))
      return res
    },
    end(data) {
      if (!open()) return
      const isWritten = data === undefined || data === null || file.takes(data)
      if (isWritten && file.send()) return
      file.giveUp()
      if (isWritten) out.end()
      else out.end(toChunk(data, out))
    },
    send: (data) => res.end(data),
    json(value) {
      if (!open()) return
      file.giveUp()
      const text = JSON.stringify(value) ?? 'null'
      if (!out.headersSent && !out.hasHeader('content-type')) out.setHeader('content-type', 'application/json')
      out.end(text)
    },
    redirect(...target) {
      if (!open()) return
      file.giveUp()
      const [code, url] = target.length === 2 ? target : ([302, target[0]] as const)
      out.writeHead(code, { location: url }).end()
    },
    render: (view, values) => renderView(res, render, view, values, onFault),
    get writable() {
      file.giveUp()
      return out
    },
  }
  return res
}

/** Text and bytes as they are; an error as its message, which `JSON.stringify` would drop; everything else as JSON. */
function toChunk(data: unknown, out: ServerResponse): string | Uint8Array {
  if (typeof data === 'string' || data instanceof Uint8Array) return data
  if (typeof data !== 'object') return String(data)
  if (!out.headersSent && !out.hasHeader('content-type')) out.setHeader('content-type', 'application/json')
  return JSON.stringify(data instanceof Error ? { error: data.message, ...data } : data)
}

function renderView(
  res: AppResponse,
  render: Render | null,
  view: string,
  values: unknown,
  onFault: (error: unknown) => void,
): void {
  const done = (error: unknown, html?: unknown): void => {
    if (!error) return void res.set('content-type', 'text/html; charset=utf-8').end(html)
    onFault(error)
    res.status(500).end('The view cannot be rendered.')
  }
  if (render === null) return void done(new Error('The application has no view engine.'))
  // A view engine may throw at once, reject later, or call back with the fault.
  Promise.resolve()
    .then(() => render(view, values, done))
    .catch(done)
}
