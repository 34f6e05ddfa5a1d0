import { IncomingMessage } from 'node:http'
import { Socket } from 'node:net'

/** The symbol under which a request of node counts the entries of `rawHeaders` that it reads. Other runtimes have none. */
const readKey =
  Object.getOwnPropertySymbols(new IncomingMessage(new Socket())).find(
    ({ description }) => description === 'kHeadersCount',
  ) ?? Symbol('no request has it')

/**
 * Removes from `rawHeaders` the headers that node does not read. Of very many headers (1,000, unless the server's
 * `maxHeadersCount` differs) it lists all but reads only the first ones into `headers`, where the guard looks. The rest is
 * never checked, but proxies forward it and other readers of the list would trust it.
 *
 * @returns whether there were any
 */
export function dropUnread(req: IncomingMessage): boolean {
  const read = isCounted(req) ? req[readKey] : null
  if (typeof read !== 'number' || read >= req.rawHeaders.length) return false
  req.rawHeaders.length = read
  return true
}

/** Counts everything in `rawHeaders` as read, because we have added the new entries ourselves. */
export function countAsRead(req: IncomingMessage): void {
  if (isCounted(req)) req[readKey] = req.rawHeaders.length
}

/** Whether node counts them. It is a predicate, because `Reflect` takes as long as all other writes to a request. */
function isCounted(req: object): req is Record<symbol, unknown> {
  return readKey in req
}
