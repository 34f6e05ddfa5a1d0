import type { Hook } from './hook.js'
import { answer, type CodehooksRequest } from './message.js'

/** The prefix of our collections when the store is in a `Datastore`, at the beginning of a path segment. */
const ours = /(?:^|\/)latchkey_/i
/** How often a path is decoded at most. Each round costs time in proportion to the path's length. */
const readings = 8

/**
 * Answers 404 wherever a URL names a collection of ours. `crudlify` with an empty schema offers every collection of the
 * application's Datastore to every caller it accepts: accounts, sessions and digests are among them.
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

/** Hosts differ in whether, and how often, they decode a path, so every stage of decoding is checked. */
function leadsToOurs(path: string): boolean {
  let text = path
  for (let reading = 0; reading < readings; reading += 1) {
    if (ours.test(text)) return true
    const decoded = decode(text)
    if (decoded === text) return false
    text = decoded
  }
  // No honest client encodes a path this often.
  return true
}

function decode(text: string): string {
  return text.replace(/%([0-9a-f]{2})/gi, (_code, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))
}
