import { IncomingMessage } from 'node:http'
import { Socket } from 'node:net'

/** Under which symbol a request of node says how many names and values of `rawHeaders` it reads; other runtimes have none. */
const readKey =
  Object.getOwnPropertySymbols(new IncomingMessage(new Socket())).find(
    ({ description }) => description === 'kHeadersCount',
  ) ?? Symbol('no request has it')

/**
 * Takes off `rawHeaders` what node does not read. Of very many headers (1,000, unless the server's `maxHeadersCount` says
 * otherwise) it lists all and reads the first into `headers`, where the guard looks: what comes behind is never checked, but
 * proxies forward it and other readers of the list would believe it.
 *
 * @returns whether there was any
 */
export function dropUnread(req: IncomingMessage): boolean {
  const read = isCounted(req) ? req[readKey] : null
  if (typeof read !== 'number' || read >= req.rawHeaders.length) return false
  req.rawHeaders.length = read
  return true
}

/** All that `rawHeaders` lists by now counts as read: what we have added is no client's. */
export function countAsRead(req: IncomingMessage): void {
  if (isCounted(req)) req[readKey] = req.rawHeaders.length
}

/** Whether it counts them: a predicate, since `Reflect` takes as long as all else that is written into a request. */
function isCounted(req: object): req is Record<symbol, unknown> {
  return readKey in req
}
