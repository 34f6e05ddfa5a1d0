import type { Hook } from './codehooks-hook.js'
import { answer, type CodehooksRequest } from './codehooks-message.js'

/** How the names of our collections begin when the store is in a `Datastore`. */
const prefix = 'latchkey_'

/**
 * Answers 404 wherever an address names a collection of ours. `crudlify` with an empty schema offers every collection that
 * the application's Datastore has, to whoever may pass: accounts, sessions and digests are among them.
 */
export function withoutOurCollections(hook: Hook): Hook {
  return (req, res, next) => {
    if (namesOurs(req)) return answer(req, res, { status: 404, headers: {}, body: null })
    return hook(req, res, next)
  }
}

function namesOurs({ apiPath, apipath, originalUrl, params }: CodehooksRequest): boolean {
  const [fullPath = ''] = String(originalUrl).split('?')
  const told = [apiPath ?? apipath, fullPath, ...Object.values(params ?? {})]
  return told.some((text) => typeof text === 'string' && segmentsOf(text).some((name) => name.startsWith(prefix)))
}

/** Hosts differ in whether, and how often, they decode a path: every reading of it counts. */
function segmentsOf(text: string): string[] {
  const decoded = decode(text)
  const segments = text.toLowerCase().split('/')
  return decoded === text ? segments : [...segments, ...segmentsOf(decoded)]
}

function decode(text: string): string {
  return text.replace(/%([0-9a-f]{2})/gi, (_code, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))
}
