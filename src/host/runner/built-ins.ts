import fs from 'node:fs'
import module, { builtinModules, createRequire, isBuiltin, syncBuiltinESMExports } from 'node:module'
import { closeCodeCache } from './code-cache.js'

// The inner wall. Node's permission model does not check every built-in module, so one that was not judged is closed. The
// verdicts hold for Node 20, 22 and 24 alike. What a later version adds is closed until it is judged here.

/** Code that has these reaches nothing that the permission model does not check, but the network. */
const open = [
  ...['_http_agent', '_http_client', '_http_common', '_http_incoming', '_http_outgoing', '_http_server'],
  ...[
    '_stream_duplex',
    '_stream_passthrough',
    '_stream_readable',
    '_stream_transform',
    '_stream_wrap',
    '_stream_writable',
  ],
  ...['_tls_common', '_tls_wrap', 'assert', 'assert/strict', 'async_hooks', 'buffer', 'console', 'constants', 'dgram'],
  ...['diagnostics_channel', 'dns', 'dns/promises', 'domain', 'events', 'fs', 'fs/promises', 'http', 'http2', 'https'],
  ...[
    'net',
    'path',
    'path/posix',
    'path/win32',
    'perf_hooks',
    'punycode',
    'querystring',
    'readline',
    'readline/promises',
  ],
  ...['sea', 'stream', 'stream/consumers', 'stream/promises', 'stream/web', 'string_decoder', 'sys', 'timers'],
  ...['timers/promises', 'tls', 'tty', 'url', 'util', 'util/types', 'vm', 'zlib'],
]

/** Packages import these for what is harmless, or for functions that they never call. They load with these names only. */
const inPart: Readonly<Record<string, readonly string[]>> = {
  child_process: [],
  cluster: [
    ...['_events', '_eventsCount', '_maxListeners', 'domain', 'isMaster', 'isPrimary', 'isWorker', 'schedulingPolicy'],
    ...['SCHED_NONE', 'SCHED_RR', 'settings', 'workers'],
  ],
  inspector: ['url'],
  // createRequire and its innards: what they load is what is left of it. `require` looks for files by _findPath, so it stays. In
  // the mode `process`, it, `require.resolve` and `import` tell which files exist outside of the space.
  module: [
    ...['_cache', '_debug', '_extensions', '_findPath', '_initPaths', '_load', '_nodeModulePaths', '_pathCache'],
    ...['_preloadModules', '_resolveFilename', '_resolveLookupPaths', 'builtinModules', 'constants'],
    ...[
      'createRequire',
      'findPackageJSON',
      'findSourceMap',
      'getCompileCacheDir',
      'getSourceMapsSupport',
      'globalPaths',
    ],
    ...['isBuiltin', 'Module', 'setSourceMapsSupport', 'SourceMap', 'stripTypeScriptTypes', 'syncBuiltinESMExports'],
    ...['wrap', 'wrapper', 'length', 'name', 'prototype'],
  ],
  process: [
    ...['_eventsCount', '_events', '_exiting', '_fatalException', '_getActiveHandles', '_getActiveRequests', '_kill'],
    ...[
      '_maxListeners',
      '_preload_modules',
      '_rawDebug',
      '_tickCallback',
      'abort',
      'addUncaughtExceptionCaptureCallback',
    ],
    ...['allowedNodeEnvironmentFlags', 'arch', 'argv', 'argv0', 'assert', 'availableMemory', 'chdir', 'config'],
    ...[
      'constrainedMemory',
      'cpuUsage',
      'cwd',
      'debugPort',
      'domain',
      'emitWarning',
      'env',
      'execArgv',
      'execPath',
      'exit',
    ],
    ...['exitCode', 'features', 'finalization', 'getActiveResourcesInfo', 'getBuiltinModule', 'getegid', 'geteuid'],
    ...['getgid', 'getgroups', 'getuid', 'hasUncaughtExceptionCaptureCallback', 'hrtime', 'kill', 'memoryUsage'],
    ...[
      'moduleLoadList',
      'nextTick',
      'noDeprecation',
      'noProcessWarnings',
      'openStdin',
      'permission',
      'pid',
      'platform',
    ],
    ...['ppid', 'reallyExit', 'ref', 'release', 'resourceUsage', 'setSourceMapsEnabled'],
    ...['setUncaughtExceptionCaptureCallback', 'sourceMapsEnabled', 'stderr', 'stdin', 'stdout', 'threadCpuUsage'],
    ...['throwDeprecation', 'title', 'traceDeprecation', 'traceProcessWarnings', 'umask', 'unref', 'uptime', 'version'],
    'versions',
  ],
  v8: [
    ...[
      'cachedDataVersionTag',
      'DefaultDeserializer',
      'DefaultSerializer',
      'deserialize',
      'Deserializer',
      'GCProfiler',
    ],
    ...['getCppHeapStatistics', 'getHeapCodeStatistics', 'getHeapSpaceStatistics', 'getHeapStatistics'],
    ...['isStringOneByteRepresentation', 'promiseHooks', 'serialize', 'Serializer', 'startupSnapshot'],
  ],
  worker_threads: [
    ...[
      'BroadcastChannel',
      'getEnvironmentData',
      'isInternalThread',
      'isMainThread',
      'isMarkedAsUntransferable',
      'locks',
    ],
    ...['markAsUncloneable', 'markAsUntransferable', 'MessageChannel', 'MessagePort', 'moveMessagePortToContext'],
    ...['parentPort', 'receiveMessageOnPort', 'resourceLimits', 'setEnvironmentData', 'SHARE_ENV', 'threadId'],
    ...['threadName', 'workerData'],
  ],
}

/** What is missing in modules that are open otherwise: shared libraries as engines, and the priority of other processes. */
const missing: Readonly<Record<string, readonly string[]>> = { crypto: ['setEngine'], os: ['setPriority'] }

/**
 * Closed ones that Node writes in JavaScript over others, which are closed too: nothing is lost when they load. Where the loader
 * can refuse them they are not loaded, which would take 10 ms and 5 MB.
 */
const overOthers = ['repl', 'test', 'test/reporters']

/** Those that Node 20 and 22 leave out of their lists, or load with a flag only. */
const unlisted = ['ffi', 'quic', 'sea', 'sqlite', 'test', 'test/reporters']

const advice: Readonly<Record<string, string>> = {
  sqlite: 'Keep data by Datastore.',
  child_process: 'Run such work in a service of its own, and call it over HTTP.',
  cluster: 'A space has one process.',
  worker_threads: 'Run such work in a service of its own, and call it over HTTP.',
}

/**
 * Takes away what was not judged, by every way that leads to it: `import`, `require` and `process.getBuiltinModule` give the same
 * object, and this object loses its members. A call of one throws an Error whose `code` is `built_in_refused`. An import of a
 * closed module fails so too, from Node 22.15 on.
 *
 * Call it before anything of the application is loaded. Nothing here may use what an application can replace afterwards.
 */
export function closeBuiltIns(): void {
  const load = createRequire(import.meta.url)
  const ids = new Set([...builtinModules.map(bareName), ...unlisted])
  const closed = [...ids].filter(
    (id) => !(open.includes(id) || Object.hasOwn(inPart, id) || Object.hasOwn(missing, id)),
  )
  const hasGate = refuseImports(ids, closed)
  const loaded = hasGate ? closed.filter((id) => !overOthers.includes(id)) : closed
  const found = loadQuietly(load, [...new Set([...loaded, ...Object.keys(inPart), ...Object.keys(missing)])])
  guardSignals()
  for (const [id, exports] of found) takeAway(id, exports)
  closeCodeCache(refusing('cachedData of node:vm', 'vm'))
  hideCommand()
  // Its other form follows links without a permission, so it tells which files there are.
  fs.realpathSync = Object.assign(fs.realpathSync.native, { native: fs.realpathSync.native })
  syncBuiltinESMExports()
}

function bareName(id: string): string {
  return id.replace(/^node:/, '')
}

/** All of them before one is emptied: they use each other. Node warns of some of them, although the application asked for none. */
function loadQuietly(load: NodeJS.Require, ids: readonly string[]): [string, object][] {
  const { emitWarning } = process
  process.emitWarning = () => {}
  try {
    return ids.flatMap((id): [string, object][] => {
      const exports = loadOrNull(load, id)
      return exports === null ? [] : [[id, exports]]
    })
  } finally {
    process.emitWarning = emitWarning
  }
}

/** null for one that this build of Node lacks, or that a flag has closed: it does not load for the application either. */
function loadOrNull(load: NodeJS.Require, id: string): object | null {
  try {
    const exports: unknown = load(`node:${id}`)
    return typeof exports === 'function' || typeof exports === 'object' ? exports : null
  } catch {
    return null
  }
}

function takeAway(id: string, exports: object): void {
  const kept = inPart[id] ?? []
  for (const [name, { value, writable, configurable }] of Object.entries(Object.getOwnPropertyDescriptors(exports))) {
    if (missing[id] !== undefined ? !missing[id].includes(name) : kept.includes(name)) continue
    const stays =
      typeof value === 'function' ? refusing(`${id === 'process' ? '' : 'node:'}${id}.${name}`, id) : undefined
    // What cannot be replaced makes this throw, and nothing starts.
    if (configurable || writable) Object.defineProperty(exports, name, { value: stays })
    else throw new Error(`node:${id}.${name} cannot be taken away in this version of Node.`)
  }
}

function refusing(what: string, id: string): () => never {
  // No arrow function: it may be called by `new`, and extended by a class.
  return function refused() {
    throw refusal(what, id)
  }
}

function refusal(what: string, id: string): Error {
  const hint = advice[id] === undefined ? '' : ` ${advice[id]}`
  const message = `${what} is refused in a space.${hint} docs/host/isolation.md of latchkey lists the built-in modules that are open.`
  return Object.assign(new Error(message), { code: 'built_in_refused' })
}

type RegisterHooks = (hooks: {
  resolve(specifier: string, context: unknown, next: (specifier: string, context: unknown) => unknown): unknown
  load(url: string, context: Format, next: (url: string, context: Format) => unknown): unknown
}) => unknown
interface Format {
  format?: string | null
}

/** Makes `import`, `require` and `process.getBuiltinModule` of a closed module fail. False where this Node cannot do the first two. */
function refuseImports(ids: Iterable<string>, closed: readonly string[]): boolean {
  const refused = tableOf(closed)
  const allowed = tableOf([...ids].filter((id) => !closed.includes(id)))
  const { getBuiltinModule } = process
  Object.defineProperty(process, 'getBuiltinModule', {
    value: (id: unknown) => {
      if (typeof id !== 'string') throw new TypeError('The id of a built-in module is a string.')
      const name = refused[id]
      if (name !== undefined) throw refusal(`node:${name}`, name)
      return allowed[id] === undefined ? undefined : getBuiltinModule(id)
    },
  })
  const registerHooks: unknown = Reflect.get(module, 'registerHooks')
  if (!isRegisterHooks(registerHooks)) return false
  registerHooks({
    resolve(specifier, context, nextResolve) {
      const asked = refused[specifier]
      if (asked !== undefined) throw refusal(`node:${asked}`, asked)
      return nextResolve(specifier, context)
    },
    // However it was resolved: an application may replace the resolver of `require`.
    load(url, context, nextLoad) {
      if (context.format === 'builtin' && allowed[url] === undefined) throw refusal(url, refused[url] ?? '')
      return nextLoad(url, context)
    },
  })
  return true
}

function isRegisterHooks(value: unknown): value is RegisterHooks {
  return typeof value === 'function'
}

/** Ids by every name that Node knows them by. It has no prototype, which an application could change. */
function tableOf(ids: readonly string[]): Readonly<Record<string, string>> {
  const table: Record<string, string> = Object.create(null)
  for (const id of ids) for (const name of [`node:${id}`, ...(isBuiltin(id) ? [id] : [])]) table[name] = id
  return table
}

/** Only itself: the host and the other spaces are processes of the same user. */
function guardSignals(): void {
  const own = process.pid
  const send: unknown = Reflect.get(process, '_kill')
  if (!isSend(send)) throw new Error('This version of Node has no process._kill.')
  Object.defineProperty(process, '_kill', {
    value: (pid: unknown, signal: number) => {
      if (pid !== own) throw refusal('A signal to another process', 'process')
      return send(own, signal)
    },
  })
}

function isSend(value: unknown): value is (pid: number, signal: number) => unknown {
  return typeof value === 'function'
}

/** The command names folders of the host. */
function hideCommand(): void {
  process.argv = [process.execPath, 'bundle.mjs']
  process.execArgv = []
}
