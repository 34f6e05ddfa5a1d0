// A PostgreSQL of the run's own, in a folder that is removed afterwards. PostgreSQL refuses to run as root: then it runs as `postgres`.
import { spawnSync } from 'node:child_process'
import { chmodSync, existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freePort, run } from './processes.js'

/** `settings` are lines of postgresql.conf as `name=value`. */
export async function startPostgres(settings = []) {
  const folder = mkdtempSync(join(tmpdir(), 'latchkey-postgres-'))
  chmodSync(folder, 0o755)
  if (process.getuid() === 0) run('chown', ['postgres', folder])
  const [data, port] = [join(folder, 'data'), await freePort()]
  postgres('initdb', ['-D', data, '-A', 'trust', '-U', 'postgres', '--no-sync', '-E', 'UTF8'])
  const fixed = ['listen_addresses=127.0.0.1', `unix_socket_directories=${folder}`, 'max_connections=200']
  const options = [...fixed, ...settings].map((setting) => `-c ${setting}`).join(' ')
  const control = (...words) => postgres('pg_ctl', ['-D', data, '-w', '-l', join(folder, 'log'), ...words])
  const begin = () => control('-o', `-p ${port} ${options}`, 'start')
  begin()
  // Also when the run breaks off: a server must not outlive it.
  process.once('exit', remove)
  return {
    port,
    folder,
    url: (database = 'postgres', atPort = port) => `postgres://postgres@127.0.0.1:${atPort}/${database}`,
    /** Makes an empty one; returns its URL. */
    createDatabase(name) {
      postgres('createdb', ['-h', '127.0.0.1', '-p', String(port), '-U', 'postgres', name])
      return this.url(name)
    },
    begin,
    /** `fast` ends every connection and writes a checkpoint; `immediate` is a crash: the next start recovers from the log. */
    end: (mode) => control('-m', mode, 'stop'),
    remove,
  }

  function remove() {
    process.off('exit', remove)
    try {
      control('-m', 'immediate', 'stop')
    } catch {
      // It was stopped already.
    }
    rmSync(folder, { recursive: true, force: true })
  }
}

function postgres(program, programArguments) {
  const file = join(binaries(), program)
  if (process.getuid() !== 0) return run(file, programArguments)
  return run('runuser', ['-u', 'postgres', '--', file, ...programArguments])
}

/** Where Debian keeps the newest one; elsewhere what pg_config says. */
function binaries() {
  const debian = '/usr/lib/postgresql'
  const versions = existsSync(debian) ? readdirSync(debian).filter((name) => /^\d+$/.test(name)) : []
  const [newest] = versions.sort((one, other) => Number(other) - Number(one))
  if (newest) return join(debian, newest, 'bin')
  const { stdout } = spawnSync('pg_config', ['--bindir'], { encoding: 'utf8' })
  if (!stdout) throw new Error('No PostgreSQL on this machine: install it, or put pg_config on the PATH.')
  return stdout.trim()
}
