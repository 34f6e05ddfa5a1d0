import type { ServerResponse } from 'node:http'
import { varyByOrigin } from './late-vary.js'

/** Adds headers to the application's response: at once, but for `Vary: Origin`, which waits until the head is written. */
export function addHeaders(res: ServerResponse, headers: Readonly<Record<string, string>>): void {
  for (const name in headers) {
    const value = headers[name] ?? ''
    if (name !== 'vary') res.setHeader(name, value)
    else if (value === 'Origin') varyByOrigin(res)
    else res.appendHeader(name, value)
  }
}
