import type { ServerResponse } from 'node:http'

/** Puts headers on the application's answer. */
export type Add = (res: ServerResponse, headers: Readonly<Record<string, string>>) => void

/** At once. `Vary` is a list that others have a say in (RFC 9110 §12.5.5); everything else is replaced. */
export const addHeaders: Add = (res, headers) => {
  for (const name in headers) {
    const value = headers[name] ?? ''
    if (name === 'vary') res.appendHeader(name, value)
    else res.setHeader(name, value)
  }
}
