/** A function of the application: an auth hook, middleware or a handler. */
export type Hook = (req: object, res: object, next: (error?: unknown) => void) => unknown

/**
 * What `app.init()` of codehooks-js returns. Its records are those of the application object, so they are read anew with each
 * request: an application may register routes at any time.
 */
export interface Manifest {
  authhooks: Readonly<Record<string, unknown>>
  routehooks: Readonly<Record<string, unknown>>
  globalhooks: readonly unknown[]
  startup?: unknown
  app?: unknown
  settings?: unknown
  workerhooks?: unknown
  queuehooks?: unknown
  jobhooks?: unknown
  realtime?: unknown
}

interface RouteKey {
  /** `*` for any method. */
  method: string
  pattern: string
}

/** @throws {TypeError} when it is not what `app.init()` returns */
export function requireManifest(value: unknown): Manifest {
  if (isManifest(value)) return value
  throw new TypeError('The bundle has no application. End its main file with: export default app.init()')
}

function isManifest(value: unknown): value is Manifest {
  if (typeof value !== 'object' || value === null) return false
  if (!('authhooks' in value && 'routehooks' in value && 'globalhooks' in value)) return false
  const { authhooks, routehooks, globalhooks } = value
  return isRecord(authhooks) && isRecord(routehooks) && Array.isArray(globalhooks)
}

function isRecord(value: unknown): boolean {
  return typeof value === 'object' && value !== null
}

/** `GET /path` at its first space; a regular expression may hold more of them. */
export function splitKey(key: string): RouteKey {
  const space = key.indexOf(' ')
  return { method: key.slice(0, space), pattern: key.slice(space + 1) }
}

/** The functions of an entry; anything else in it is left out. */
export function hooksOf(entry: unknown): Hook[] {
  return [entry].flat(Number.POSITIVE_INFINITY).filter(isHook)
}

interface Layer {
  /** null for every path. */
  pattern: string | null
  hook: Hook
}

/** An entry of `app.use`: a function, or one for a path or a regular expression. */
export function layerOf(entry: unknown): Layer | null {
  if (isHook(entry)) return { pattern: null, hook: entry }
  if (typeof entry !== 'object' || entry === null || !('func' in entry) || !isHook(entry.func)) return null
  if ('path' in entry && typeof entry.path === 'string') return { pattern: entry.path, hook: entry.func }
  if ('regex' in entry && typeof entry.regex === 'string') return { pattern: entry.regex, hook: entry.func }
  return null
}

function isHook(value: unknown): value is Hook {
  return typeof value === 'function'
}

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
