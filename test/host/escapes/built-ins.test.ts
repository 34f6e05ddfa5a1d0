import { builtinModules, isBuiltin } from 'node:module'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openWorkshop, type SpaceChild, type Workshop } from '../../support/space-child.js'

let workshop: Workshop
let child: SpaceChild
beforeAll(async () => {
  workshop = await openWorkshop()
  child = await workshop.start('built-ins')
})
afterAll(() => workshop.close())

/** Of each built-in module of the Node versions that we support. A module that is missing here fails the test. */
const verdicts: Readonly<Record<string, readonly string[]>> = {
  open: [
    ...['_http_agent', '_http_client', '_http_common', '_http_incoming', '_http_outgoing', '_http_server'],
    ...['_stream_duplex', '_stream_passthrough', '_stream_readable', '_stream_transform', '_stream_wrap'],
    ...['_stream_writable', '_tls_common', '_tls_wrap', 'assert', 'assert/strict', 'async_hooks', 'buffer', 'console'],
    ...['constants', 'dgram', 'diagnostics_channel', 'dns', 'dns/promises', 'domain', 'events', 'fs', 'fs/promises'],
    ...['http', 'http2', 'https', 'net', 'path', 'path/posix', 'path/win32', 'perf_hooks', 'punycode', 'querystring'],
    ...['readline', 'readline/promises', 'sea', 'stream', 'stream/consumers', 'stream/promises', 'stream/web'],
    ...['string_decoder', 'sys', 'timers', 'timers/promises', 'tls', 'tty', 'url', 'util', 'util/types', 'vm', 'zlib'],
  ],
  inPart: ['child_process', 'cluster', 'crypto', 'inspector', 'module', 'os', 'process', 'v8', 'worker_threads'],
  closed: ['inspector/promises', 'repl', 'sqlite', 'test', 'test/reporters', 'trace_events', 'wasi'],
}
const unlisted = ['sea', 'sqlite', 'test', 'test/reporters']

/** Names of those in part that no application may have. */
const refused: Readonly<Record<string, readonly string[]>> = {
  child_process: [
    'exec',
    'execFile',
    'execFileSync',
    'execSync',
    'fork',
    'spawn',
    'spawnSync',
    'ChildProcess',
    '_forkChild',
  ],
  cluster: ['fork', 'setupPrimary', 'Worker', 'disconnect'],
  crypto: ['setEngine'],
  inspector: ['open', 'Session', 'close', 'waitForDebugger'],
  module: [
    ...['register', 'runMain'],
    ...('registerHooks' in process.getBuiltinModule('module') ? ['registerHooks'] : []),
  ],
  os: ['setPriority'],
  process: [
    ...['binding', '_linkedBinding', 'dlopen', '_debugProcess', '_debugEnd', 'loadEnvFile', 'setuid', 'setgid'],
    ...('execve' in process ? ['execve'] : []),
  ],
  v8: ['setFlagsFromString', 'writeHeapSnapshot', 'getHeapSnapshot', 'takeCoverage', 'setHeapSnapshotNearHeapLimit'],
  worker_threads: ['Worker', 'postMessageToThread'],
}

/** What packages need of those in part. */
const kept: Readonly<Record<string, readonly string[]>> = {
  child_process: [],
  cluster: ['isPrimary', 'isMaster', 'isWorker'],
  crypto: ['createHash', 'randomBytes', 'scrypt', 'webcrypto'],
  inspector: ['url'],
  module: ['createRequire', 'builtinModules', 'isBuiltin'],
  os: ['cpus', 'tmpdir', 'hostname', 'EOL'],
  process: ['env', 'nextTick', 'exit', 'cwd', 'hrtime', 'memoryUsage', 'stdout', 'kill', 'emitWarning'],
  v8: ['serialize', 'deserialize', 'getHeapStatistics'],
  worker_threads: ['isMainThread', 'MessageChannel', 'MessagePort', 'BroadcastChannel', 'threadId'],
}

const isBare = (id: string) => isBuiltin(id.replace(/^node:/, ''))
const here = [...new Set([...builtinModules, ...unlisted].map((id) => id.replace(/^node:/, '')))].filter((id) =>
  isBuiltin(`node:${id}`),
)

interface Loaded {
  code?: string
  message?: string
  members?: Record<string, string>
}

async function load(way: string, id: string): Promise<Loaded> {
  const headers = { 'content-type': 'application/json' }
  const { text } = await child.ask('/dev/load', { method: 'POST', headers, body: JSON.stringify({ way, id }) })
  return JSON.parse(text)
}

test('ATK-232 each built-in module of this version of Node has a verdict', () => {
  const judged = Object.values(verdicts).flat()
  expect(here.filter((id) => !judged.includes(id))).toEqual([])
  expect(new Set(judged).size).toBe(judged.length)
})

describe('ATK-230 ATK-231 ATK-232 by every way', () => {
  test('a closed module gives nothing that works, and the error says what it is', async () => {
    const ways: string[] = JSON.parse((await child.ask('/dev/ways')).text)
    expect(ways).toHaveLength(9)
    const closed = [...(verdicts.closed ?? []), 'sqlite', 'ffi', 'quic']
    for (const id of closed.filter((each) => isBuiltin(`node:${each}`) || each === 'sqlite')) {
      for (const way of ways) {
        for (const name of [`node:${id}`, ...(isBare(id) ? [id] : [])]) {
          const { code, message, members } = await load(way, name)
          if (members === undefined) expect(code, `${way} ${name} ${message}`).toMatch(refusals)
          // Node 20 loads it. Nothing of it works.
          else expect(Object.values(members).filter((what) => !/^(undefined|built_in_refused)$/.test(what))).toEqual([])
        }
      }
    }
  })

  test('a module that is open in part has what packages need of it, and nothing else', async () => {
    for (const id of verdicts.inPart ?? []) {
      for (const way of ['import', 'require', 'getBuiltinModule', '_load']) {
        const { members = {} } = await load(way, `node:${id}`)
        for (const name of refused[id] ?? []) expect(members[name], `${way} ${id}.${name}`).toBe('built_in_refused')
        if (id === 'module') expect(members._readPackage, way).toBe('undefined')
        for (const name of kept[id] ?? []) expect(members[name], `${way} ${id}.${name}`).not.toBe('built_in_refused')
        for (const name of kept[id] ?? []) expect(members[name], `${way} ${id}.${name}`).not.toBe('undefined')
      }
    }
  })

  test('an open module loads whole', async () => {
    for (const id of (verdicts.open ?? []).filter((each) => here.includes(each))) {
      for (const way of ['import', 'require', 'getBuiltinModule']) {
        const { members } = await load(way, `node:${id}`)
        expect(members, `${way} ${id}`).toBeDefined()
        expect(Object.values(members ?? {})).not.toContain('built_in_refused')
      }
    }
  })
})

/** Of the wall, and of Node where it finds no such module. */
const refusals =
  /^(built_in_refused|ERR_UNKNOWN_BUILTIN_MODULE|ENOENT|TypeError|MODULE_NOT_FOUND|ERR_INVALID_ARG_VALUE)$/

test('an application that calls what is refused learns what, and what to do', async () => {
  const { code, message } = await load('getBuiltinModule', 'node:sqlite')
  expect({ code, message }).toEqual({
    code: 'built_in_refused',
    message:
      'node:sqlite is refused in a space. Keep data by Datastore. docs/host/isolation.md of latchkey lists the built-in modules that are open.',
  })
})
