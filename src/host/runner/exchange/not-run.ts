import type { Manifest } from './manifest.js'

/** All names together, as JSON: a line of the pipe has at most 4 KiB. */
const mostBytes = 3_500

/**
 * What the application registers and this host does not run, such as `queue orders`.
 *
 * The list is cut so that it fits one line of the pipe. codehooks-js keeps a worker as a queue too, and the channels of realtime as keys of a function.
 */
export function namesNotRun({ workerhooks, queuehooks, jobhooks, realtime }: Manifest): string[] {
  const workers = keysOf(workerhooks)
  const named = {
    worker: workers,
    queue: keysOf(queuehooks).filter((name) => !workers.includes(name)),
    'cron job': keysOf(jobhooks),
    'realtime channel': keysOf(realtime),
  }
  const all = Object.entries(named).flatMap(([kind, names]) => names.map((name) => `${kind} ${name}`))
  let bytes = 0
  return all.filter((name) => {
    bytes += Buffer.byteLength(JSON.stringify(name)) + 1
    return bytes <= mostBytes
  })
}

function keysOf(value: unknown): string[] {
  return typeof value === 'function' || (typeof value === 'object' && value !== null) ? Object.keys(value) : []
}
