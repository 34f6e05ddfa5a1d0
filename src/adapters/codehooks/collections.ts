import type { Hook } from './hook.js'
import { answer, type CodehooksRequest } from './message.js'

/** How the names of our collections begin when the store is in a `Datastore`, as a segment of a path. */
const ours = /(?:^|\/)latchkey_/i
/** How many readings of a path are looked at; each costs as much as the path is long. */
const readings = 8

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
  const named = [apiPath ?? apipath, fullPath, ...Object.values(params ?? {})]
  return named.some((text) => typeof text === 'string' && leadsToOurs(text))
}

/** Hosts differ in whether, and how often, they decode a path: every reading of it counts. */
function leadsToOurs(path: string): boolean {
  let text = path
  for (let reading = 0; reading < readings; reading += 1) {
    if (ours.test(text)) return true
    const decoded = decode(text)
    if (decoded === text) return false
    text = decoded
  }
  // Nobody encodes so often who means well.
  return true
}

function decode(text: string): string {
  return text.replace(/%([0-9a-f]{2})/gi, (_code, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))
}
