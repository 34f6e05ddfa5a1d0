// Restores the space of a host's folder, or undoes that, and dies by kill -9 before the call that its arguments name by number.
// Without such a number it prints the calls.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { BackupPorts } from '../../src/host/flows/backups/ports.js'
import { undoRestore } from '../../src/host/flows/backups/undo-restore.js'
import { openBackupProcess, restoreNow, space } from './backup-process.js'
import { admin } from './space-world.js'

const [folder = '', kind = '', at = ''] = process.argv.slice(2)
const calls: string[] = []

/** Counts the calls, also those of what they resolve to. */
function counted<Port extends object>(name: string, port: Port): Port {
  return new Proxy(port, {
    get(target, key, receiver) {
      const method: unknown = Reflect.get(target, key, receiver)
      const path = `${name}.${String(key)}`
      if (typeof method === 'object' && method !== null) return counted(path, method)
      if (typeof method !== 'function' || key === 'then') return method
      return (...given: unknown[]) => {
        const number = calls.push(path) - 1
        if (String(number) === at) process.kill(process.pid, 'SIGKILL')
        const answer: unknown = method.apply(target, given)
        if (!(answer instanceof Promise)) return answer
        return answer.then((value) => (isOpened(path) && typeof value === 'object' ? counted(path, value) : value))
      }
    },
  })
}

const isOpened = (path: string) => ['data.open', 'data.draft'].includes(path)

const host = JSON.parse(readFileSync(join(folder, 'killed.json'), 'utf8'))
const opened = await openBackupProcess({ ...host, path: folder }, new URL(host.program))
const names = [
  'data',
  'generations',
  'claims',
  'releases',
  'environment',
  'spaces',
  'removedTokens',
  'children',
] as const
const ports: BackupPorts = {
  ...opened.ports,
  ...Object.fromEntries(names.map((name) => [name, counted(name, opened.ports[name])])),
}
if (kind === 'undo') await undoRestore(ports, { space, visitor: admin })
else await restoreNow(ports, readFileSync(join(folder, 'archive.tar.gz')), { release: true, settings: true })
process.stdout.write(JSON.stringify(calls))
await opened.close()
