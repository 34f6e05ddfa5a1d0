// Files outside of the space.
import fs, { promises } from 'node:fs'
import module, { createRequire } from 'node:module'
import { extname, relative } from 'node:path'
import { text } from 'node:stream/consumers'
import { pathToFileURL } from 'node:url'

const load = createRequire(import.meta.url)
const own = process.env.HOME
let count = 0
const fresh = () => `${own}/try-${count++}`

/** What was read is loot only if it is what the host has there. */
const secretIn = (value) => (String(value).includes('CANARY') ? 'CANARY' : null)

const readers = {
  readFileSync: (path) => secretIn(fs.readFileSync(path)),
  'readFileSync of a Buffer': (path) => secretIn(fs.readFileSync(Buffer.from(path))),
  'readFileSync of a URL': (path) => secretIn(fs.readFileSync(pathToFileURL(path))),
  'readFileSync from the own folder upwards': (path) => secretIn(fs.readFileSync(`${own}/${relative(own, path)}`)),
  'readFileSync of what looks like a URL': (path) => {
    const { href, protocol, hostname, pathname } = pathToFileURL(path)
    return secretIn(fs.readFileSync({ href, protocol, hostname, pathname, auth: undefined, path: undefined }))
  },
  'readFileSync with another resolver': (path) => {
    const { utf8Write } = Buffer.prototype
    Buffer.prototype.utf8Write = function write(_text, ...rest) {
      return utf8Write.call(this, path, ...rest)
    }
    try {
      return secretIn(fs.readFileSync(new Uint8Array(Buffer.from(`${own}/x`))))
    } finally {
      Buffer.prototype.utf8Write = utf8Write
    }
  },
  'promises.readFile': async (path) => secretIn(await promises.readFile(path)),
  createReadStream: async (path) => secretIn(await text(fs.createReadStream(path))),
  openSync: (path) => secretIn(fs.readFileSync(fs.openSync(path))),
  'promises.open': async (path) => secretIn(await (await promises.open(path)).readFile()),
  openAsBlob: async (path) => secretIn(await (await fs.openAsBlob(path)).text()),
  copyFileSync: (path) => {
    const copy = fresh()
    fs.copyFileSync(path, copy)
    return secretIn(fs.readFileSync(copy))
  },
  cpSync: (path) => {
    const copy = fresh()
    fs.cpSync(path, copy)
    return secretIn(fs.readFileSync(copy))
  },
  linkSync: (path) => {
    const link = fresh()
    fs.linkSync(path, link)
    return secretIn(fs.readFileSync(link))
  },
  symlinkSync: (path) => {
    const link = fresh()
    fs.symlinkSync(path, link)
    return secretIn(fs.readFileSync(link))
  },
  'symlinkSync of a relative path': (path) => {
    const link = fresh()
    fs.symlinkSync(relative(own, path), link)
    return secretIn(fs.readFileSync(link))
  },
  'symlinkSync of a folder, by steps': (path) => {
    const steps = [fresh(), fresh(), fresh()]
    fs.symlinkSync('/', steps[0])
    fs.symlinkSync(steps[0], steps[1])
    fs.symlinkSync(steps[1], steps[2])
    return secretIn(fs.readFileSync(`${steps[2]}${path}`))
  },
  'root of the own process': (path) => secretIn(fs.readFileSync(`/proc/self/root${path}`)),
  'root of the host': (path, { front }) => secretIn(fs.readFileSync(`/proc/${front}/root${path}`)),
  'working folder of the host': (path, { front, home }) =>
    secretIn(fs.readFileSync(`/proc/${front}/cwd/${relative(home, path)}`)),
  'require as text': (path) => {
    const extension = extname(path)
    const { [extension]: former } = module._extensions
    module._extensions[extension] = (found, file) => {
      found.exports = fs.readFileSync(file, 'utf8')
    }
    try {
      return secretIn(load(path))
    } finally {
      delete load.cache[path]
      if (former) module._extensions[extension] = former
      else delete module._extensions[extension]
    }
  },
  readvSync: (path) => {
    const bytes = Buffer.alloc(64 * 1024)
    fs.readvSync(fs.openSync(path), [bytes])
    return secretIn(bytes)
  },
}

/** Each works with one kind of file only. */
const readersOf = {
  '.mjs': {
    import: async (path) => secretIn(JSON.stringify(await import(pathToFileURL(path)))),
  },
  '.key': {
    // The stack of the error of an unknown word shows its line.
    require: (path) => {
      try {
        return secretIn(load(path))
      } catch (error) {
        if (error.name !== 'SyntaxError') throw error
        return secretIn(error.stack)
      }
    },
    loadEnvFile: (path) => {
      process.loadEnvFile(path)
      return secretIn(JSON.stringify(process.env))
    },
  },
}

/** Of the folder in which it lies. */
const lookers = {
  readdirSync: (folder) => fs.readdirSync(folder).join(),
  'promises.readdir': async (folder) => (await promises.readdir(folder)).join(),
  'readdirSync, recursive': (folder) => fs.readdirSync(folder, { recursive: true }).join(),
  opendirSync: (folder) => fs.opendirSync(folder).readSync()?.name,
  statSync: (folder) => fs.statSync(folder).ino,
  lstatSync: (folder) => fs.lstatSync(folder).ino,
  statfsSync: (folder) => (fs.statfsSync(folder) ? 'there' : null),
  realpathSync: (folder) => fs.realpathSync(folder),
  'realpathSync.native': (folder) => fs.realpathSync.native(folder),
  accessSync: (folder) => fs.accessSync(folder) ?? 'there',
  existsSync: (folder) => (fs.existsSync(folder) ? 'there' : null),
  globSync: (folder) => fs.globSync(`${folder}/*`).join() || null,
  watch: (folder) => fs.watch(folder).close() ?? 'watched',
  // A file that is missing is told at once, one that is there when it changes.
  watchFile: async (folder) => {
    const missing = `${own}/missing`
    const tells = (path) => new Promise((resolve) => fs.watchFile(path, { interval: 60_000 }, () => resolve(true)))
    try {
      const told = tells(folder)
      await tells(missing)
      return (await Promise.race([told, new Promise((resolve) => setTimeout(resolve, 500, false))])) ? null : 'there'
    } finally {
      for (const path of [folder, missing]) fs.unwatchFile(path)
    }
  },
}

export function reads(place) {
  const { secrets, folders } = place
  const ofFiles = secrets.flatMap((path) =>
    Object.entries({ ...readers, ...readersOf[extname(path)] }).map(([name, run]) => [
      `${path}: ${name}`,
      () => run(path, place),
    ]),
  )
  const ofFolders = folders.flatMap((path) =>
    Object.entries(lookers).map(([name, run]) => [`${path}: ${name}`, () => run(path, place)]),
  )
  const ofSystem = place.systemFiles.map((path) => [
    `${path}: contents`,
    () => fs.readFileSync(path, 'latin1') && 'read',
  ])
  return Object.fromEntries([...ofFiles, ...ofFolders, ...ofSystem])
}

/** The host looks at its files afterwards; these give loot when nothing was refused. */
const changers = {
  writeFileSync: (path) => fs.writeFileSync(path, 'x'),
  appendFileSync: (path) => fs.appendFileSync(path, 'x'),
  'promises.writeFile': (path) => promises.writeFile(path, 'x'),
  createWriteStream: (path) =>
    new Promise((resolve, reject) => {
      const stream = fs.createWriteStream(path).on('error', reject).on('finish', resolve)
      stream.end('x')
    }),
  'openSync to write': (path) => fs.closeSync(fs.openSync(path, 'r+')),
  'openSync to write, by numbers': (path) =>
    fs.closeSync(fs.openSync(path, fs.constants.O_RDWR | fs.constants.O_CREAT)),
  truncateSync: (path) => fs.truncateSync(path),
  unlinkSync: (path) => fs.unlinkSync(path),
  rmSync: (path) => fs.rmSync(path),
  'renameSync away': (path) => fs.renameSync(path, fresh()),
  'renameSync over it': (path) => fs.renameSync(written(), path),
  'copyFileSync over it': (path) => fs.copyFileSync(written(), path),
  'cpSync over it': (path) => fs.cpSync(written(), path),
  'linkSync beside it': (path) => fs.linkSync(written(), `${path}.new`),
  'symlinkSync beside it': (path) => fs.symlinkSync(own, `${path}.new`),
  'a file beside it': (path) => fs.writeFileSync(`${path}.new`, 'x'),
  'a folder beside it': (path) => fs.mkdirSync(`${path}.new`),
  mkdtempSync: (path) => fs.mkdtempSync(`${path}.new`),
  'symlinkSync, then written': (path) => {
    const link = fresh()
    fs.symlinkSync(path, link)
    fs.writeFileSync(link, 'x')
  },
  'linkSync, then written': (path) => {
    const link = fresh()
    fs.linkSync(path, link)
    fs.writeFileSync(link, 'x')
  },
  chmodSync: (path) => fs.chmodSync(path, 0o777),
  utimesSync: (path) => fs.utimesSync(path, 1, 1),
  lutimesSync: (path) => fs.lutimesSync(path, 1, 1),
  chownSync: (path) => fs.chownSync(path, process.getuid(), process.getgid()),
  'root of the host': (path, { front }) => fs.writeFileSync(`/proc/${front}/root${path}`, 'x'),
}

function written() {
  const file = fresh()
  fs.writeFileSync(file, 'x')
  return file
}

export function changes(place) {
  const tried = place.secrets.flatMap((path) =>
    Object.entries(changers).map(([name, run]) => [
      `${path}: ${name}`,
      async () => {
        await run(path, place)
        return 'changed'
      },
    ]),
  )
  const release = new URL('bundle.mjs', import.meta.url).pathname
  const ownFiles = [
    ['the own release: writeFileSync', () => fs.writeFileSync(release, 'x') ?? 'changed'],
    ['the own release: a file beside it', () => fs.writeFileSync(`${release}.new`, 'x') ?? 'changed'],
  ]
  const system = place.systemFolders.map((path) => [
    `${path}: a file`,
    () => fs.writeFileSync(`${path}/latchkey-escape`, 'x') ?? 'changed',
  ])
  // Each process may offer itself to be ended first.
  const kernel = ['/proc/sys/kernel/core_pattern', '/proc/self/oom_score_adj', '/proc/sysrq-trigger'].map((path) => [
    `${path}: written`,
    () => fs.writeFileSync(path, '1000') ?? 'changed',
  ])
  return Object.fromEntries([...tried, ...ownFiles, ...system, ...kernel])
}
