// Other processes and the network, and the name of the host's folder.
import fs from 'node:fs'
import net from 'node:net'
import os from 'node:os'

function connected(options) {
  return new Promise((resolve, reject) => {
    const socket = net.connect(options, () => resolve('connected'))
    socket.on('error', reject)
    socket.on('close', () => socket.destroy())
    socket.on('connect', () => socket.end())
  })
}

export function reach({ front, frontGroup, sibling, port, socket, siblingSocket, abstract }) {
  const others = Object.entries({ front, sibling }).flatMap(([name, pid]) => [
    [`process: kill of the ${name}`, () => process.kill(pid, 0) && 'signalled'],
    [`process: _kill of the ${name}`, () => (process._kill(pid, 0) === 0 ? 'signalled' : null)],
    [
      `process: kill of the group of the ${name}`,
      // A child leads a group of its own.
      () => process.kill(name === 'front' ? -frontGroup : -pid, 0) && 'signalled',
    ],
    [`process: _debugProcess of the ${name}`, () => process._debugProcess(pid) ?? 'signalled'],
    [`process: priority of the ${name}`, () => os.setPriority(pid, os.getPriority(pid)) ?? 'changed'],
    [`process: memory of the ${name}`, () => fs.openSync(`/proc/${pid}/mem`) && 'opened'],
    [`process: environment of the ${name}`, () => fs.readFileSync(`/proc/${pid}/environ`, 'latin1') && 'read'],
    [`process: command of the ${name}`, () => fs.readFileSync(`/proc/${pid}/cmdline`, 'latin1') && 'read'],
  ])
  return {
    ...Object.fromEntries(others),
    'process: kill of a pid that changes': () => {
      const pid = { valueOf: () => front }
      return process._kill(pid, 0) === 0 ? 'signalled' : null
    },
    'process: kill of all': () => (process._kill(-1, 0) === 0 && process.pid !== 1 ? 'signalled' : null),
    'process: setuid': () => process.setuid(0) ?? 'root',
    'path: socket of the host': () => connected({ path: socket }),
    'path: socket of the sibling': () => connected({ path: siblingSocket }),
    'path: socket through the root of the host': () => connected({ path: `/proc/${front}/root${socket}` }),
    'abstract: socket of the host': () => connected({ path: `\0${abstract}` }),
    'network: loopback': () => connected({ host: '127.0.0.1', port }),
    'network: loopback, mapped to IPv6': () => connected({ host: '::ffff:127.0.0.1', port }),
  }
}

const selfFiles = ['cmdline', 'environ', 'maps', 'mountinfo', 'mounts', 'mountstats', 'net/unix']
const selfLinks = ['cwd', 'exe', 'root', 'fd/0', 'fd/1', 'fd/2', 'fd/3', 'fd/4', 'fd/5', 'fd/6', 'fd/7']

/** Loot is a text that names the folder of the host. */
export function names({ home }) {
  const texts = {
    'command: argv': () => process.argv.join(),
    'command: execArgv': () => process.execArgv.join(),
    'command: report': () => JSON.stringify(process.report.getReport()),
    'place: cwd': () => process.cwd(),
    'place: environment': () => JSON.stringify(process.env),
    'place: import.meta': () => import.meta.url,
    'place: stack': () => new Error('x').stack,
    'place: stack of the runner': () => {
      const { stackTraceLimit } = Error
      Error.stackTraceLimit = Infinity
      const { stack } = new Error('x')
      Error.stackTraceLimit = stackTraceLimit
      return stack.split('\n').filter((line) => !line.includes('bundle.mjs'))
    },
    'place: error of a file': () => {
      try {
        return fs.realpathSync('no-such-file')
      } catch (error) {
        return `${error.message} ${error.path} ${error.resource}`
      }
    },
    'place: handles': () =>
      process
        ._getActiveHandles()
        .map((handle) => JSON.stringify(handle.address?.() ?? null))
        .join(),
  }
  const all = {
    ...texts,
    ...Object.fromEntries(
      selfFiles.map((name) => [`proc: ${name}`, () => fs.readFileSync(`/proc/self/${name}`, 'utf8')]),
    ),
    ...Object.fromEntries(selfLinks.map((name) => [`proc: ${name}`, () => fs.readlinkSync(`/proc/self/${name}`)])),
  }
  return Object.fromEntries(
    Object.entries(all).map(([name, run]) => [name, async () => (String(await run()).includes(home) ? 'named' : null)]),
  )
}
