// Built-in modules that reach past Node's permission model, and ways to start something.
import child from 'node:child_process'
import cluster from 'node:cluster'
import fs from 'node:fs'
import module, { createRequire } from 'node:module'
import { dirname } from 'node:path'
import tls from 'node:tls'
import v8 from 'node:v8'
import { Worker } from 'node:worker_threads'

const load = createRequire(import.meta.url)
const own = process.env.HOME
const emptyModule = 'data:text/javascript,'

const loaders = {
  import: (id) => import(id),
  require: (id) => load(id),
  getBuiltinModule: (id) => process.getBuiltinModule(id),
  _load: (id) => module._load(id, null),
  'an import in data': (id) => import(`data:text/javascript,export * from '${id}'`),
}

const databases = {
  'reads it': ({ DatabaseSync }, path) => JSON.stringify(new DatabaseSync(path).prepare('select * from secrets').all()),
  'reads it by ATTACH': ({ DatabaseSync }, path) => {
    const database = new DatabaseSync(':memory:')
    database.exec(`attach '${path}' as host`)
    return JSON.stringify(database.prepare('select * from host.secrets').all())
  },
  'writes it': ({ DatabaseSync }, path) => new DatabaseSync(path).exec("update secrets set value = 'x'") ?? 'changed',
  'makes one beside it': ({ DatabaseSync }, path) =>
    new DatabaseSync(`${path}.new`).exec('create table a (b)') ?? 'made',
  'VACUUM INTO beside it': ({ DatabaseSync }, path) => {
    const database = new DatabaseSync(':memory:')
    database.exec('create table a (b)')
    database.exec(`vacuum into '${path}.new'`)
    return 'made'
  },
  'loads an extension': ({ DatabaseSync }) => {
    const database = new DatabaseSync(':memory:', { allowExtension: true })
    return opensLibrary((file) => database.loadExtension(file))
  },
}

/** Each writes a file beside the given one, or over it. */
const writers = {
  writeReport: (path) => {
    process.report.directory = dirname(path)
    return process.report.writeReport(path.slice(dirname(path).length + 1))
  },
  'report of another name': (path) => {
    Object.assign(process.report, { directory: dirname(path), filename: 'report.new' })
    return process.report.writeReport()
  },
  writeHeapSnapshot: (path) => v8.writeHeapSnapshot(path),
  setHeapSnapshotNearHeapLimit: () => v8.setHeapSnapshotNearHeapLimit(1) ?? 'set',
  'flags of V8': (path) => v8.setFlagsFromString(`--logfile=${path}`) ?? 'set',
  takeCoverage: (path) => {
    process.env.NODE_V8_COVERAGE = dirname(path)
    try {
      return v8.takeCoverage() ?? 'taken'
    } finally {
      delete process.env.NODE_V8_COVERAGE
    }
  },
  trace_events: async (path) => {
    process.chdir(dirname(path))
    const { createTracing } = await import('node:trace_events')
    createTracing({ categories: ['node'] }).enable()
    return 'traces'
  },
  'compile cache': (path) => module.enableCompileCache(`${dirname(path)}/cache.new`).directory,
  'inspector, tracing': async (path) => {
    const { Session } = await import('node:inspector')
    const session = new Session()
    session.connect()
    process.chdir(dirname(path))
    session.post('NodeTracing.start', { traceConfig: { includedCategories: ['node'] } })
    return 'traces'
  },
  'history of a REPL': async (path) => {
    const { start } = await import('node:repl')
    const server = start({ input: process.stdin, output: process.stdout })
    await new Promise((resolve, reject) => server.setupHistory(path, (error) => (error ? reject(error) : resolve())))
    return 'history'
  },
  'WASI with the folder': async (path) => {
    const { WASI } = await import('node:wasi')
    return new WASI({ version: 'preview1', preopens: { '/': dirname(path) } }) && 'opened'
  },
}

export function builtIns({ secrets }) {
  const [database] = secrets
  const bySqlite = Object.entries(loaders).flatMap(([way, get]) =>
    Object.entries(databases).map(([name, run]) => [
      `node:sqlite by ${way}: ${name}`,
      async () => run(await get('node:sqlite'), database),
    ]),
  )
  const files = secrets.flatMap((path) =>
    Object.entries(writers).map(([name, run]) => [`${path}: ${name}`, () => run(path)]),
  )
  return Object.fromEntries([...bySqlite, ...files])
}

const bindings = ['spawn_sync', 'process_wrap', 'fs', 'inspector', 'contextify', 'natives']

/** Loot of these is that something runs. */
const starters = {
  spawn: () => started(child.spawn(process.execPath, ['-v'])),
  spawnSync: () => child.spawnSync(process.execPath, ['-v']).stdout?.toString(),
  exec: () => started(child.exec('true')),
  execFile: () => started(child.execFile(process.execPath, ['-v'])),
  execFileSync: () => child.execFileSync(process.execPath, ['-v']).toString(),
  execSync: () => child.execSync('true').toString() || 'ran',
  fork: () => started(child.fork('x.js')),
  ChildProcess: () => new child.ChildProcess() && 'made',
  'cluster.fork': () => cluster.fork() && 'forked',
  Worker: () => new Worker('1', { eval: true }) && 'started',
  'Worker with rights of its own': () => new Worker('1', { eval: true, execArgv: ['--allow-fs-read=*'] }) && 'started',
  'a test that runs files': async () => (await import('node:test')).run({ files: ['x.js'] }) && 'runs',
  // Where nothing refuses it, a failure would end the process.
  execve: () => (isFree(process.execve) ? 'ran' : process.execve('/no/program', [], {})),
  dlopen: () => opensLibrary((file) => process.dlopen({ exports: {} }, file)),
  'require of an addon': () => opensLibrary((file) => load(file)),
  setEngine: () => opensLibrary((file) => load('node:crypto').setEngine(file)),
  'engine: of TLS': () => opensLibrary((file) => tls.createSecureContext({ clientCertEngine: file })),
  'engine: of a key': () =>
    opensLibrary((file) => tls.createSecureContext({ privateKeyEngine: file, privateKeyIdentifier: 'x' })),
  'inspector.open': async () => (await import('node:inspector')).open(0, '127.0.0.1') ?? 'open',
  'the own inspector by SIGUSR1': async () => {
    const { url } = await import('node:inspector')
    process.debugPort = 0
    process.kill(process.pid, 'SIGUSR1')
    for (let tries = 0; tries < 20 && url() === undefined; tries++)
      await new Promise((resolve) => setTimeout(resolve, 20))
    return url() ?? null
  },
  '_debugProcess of itself': () => process._debugProcess(process.pid) ?? 'sent',
  'module.register': () => module.register(emptyModule) ?? 'registered',
  'module.registerHooks': () => module.registerHooks({}) && 'registered',
  'Session of the inspector': () => new (load('node:inspector').Session)().connect() ?? 'connected',
  ...Object.fromEntries(bindings.map((name) => [`binding ${name}`, () => process.binding(name) && 'bound'])),
  // Node itself links none, and says so when it is asked.
  _linkedBinding: () => {
    try {
      return process._linkedBinding('fs') && 'bound'
    } catch (error) {
      if (error.code === 'ERR_INVALID_MODULE') return 'asked'
      throw error
    }
  },
}

function isFree(run) {
  return process.permission === undefined && run !== undefined && !String(run).includes('refusal')
}

async function started(process) {
  await new Promise((resolve, reject) => process.on('error', reject).on('spawn', resolve))
  return 'started'
}

const opened = /ERR_DLOPEN_FAILED|ERR_LOAD_SQLITE_EXTENSION|ERR_CRYPTO_ENGINE_UNKNOWN|could not load the shared library/

/** A wall refuses before the file is opened. That it is no library is found out later, so it would be code of the application. */
function opensLibrary(open) {
  const file = `${own}/library.node`
  fs.writeFileSync(file, 'no library')
  try {
    return open(file) ?? 'opened'
  } catch (error) {
    if (opened.test(`${error.code} ${error.message}`)) return 'opened'
    throw error
  }
}

export function starts() {
  return starters
}
