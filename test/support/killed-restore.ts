// Restores the space of a host's folder, or undoes that, and dies by kill -9 before the call that its arguments name by number.
// Without such a number it prints the calls.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { undoRestore } from '../../src/host/flows/backups/switch-generation.js'
import { openBackupProcess, restoreNow, space } from './backup-process.js'
import { countedPorts } from './counted-ports.js'
import { admin } from './space-world.js'

const [folder = '', kind = '', at = ''] = process.argv.slice(2)
const host = JSON.parse(readFileSync(join(folder, 'killed.json'), 'utf8'))
const opened = await openBackupProcess({ ...host, path: folder }, new URL(host.program))
const { ports, calls } = countedPorts(opened.ports, ({ number }, run) => {
  if (String(number) === at) process.kill(process.pid, 'SIGKILL')
  return run()
})
if (kind === 'undo') await undoRestore(ports, { space, visitor: admin })
else await restoreNow(ports, readFileSync(join(folder, 'archive.tar.gz')), { release: true, settings: true })
process.stdout.write(JSON.stringify(calls))
await opened.close()
