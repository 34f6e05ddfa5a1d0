import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { temporaryFolder } from './auth.js'
import { freePort } from './program.js'
import { until } from './redis-server.js'
import { serverUrls } from './servers.js'

/** A PgBouncer that pools transactions before the PostgreSQL of this machine; ended with the test. Answers its port. */
export async function startPgBouncer(settings: readonly string[] = []): Promise<number> {
  const [port, folder] = [await freePort(), temporaryFolder()]
  const { hostname, port: serverPort, username } = new URL(serverUrls.postgres)
  const file = join(folder, 'pgbouncer.ini')
  const lines = [
    '[databases]',
    `* = host=${hostname} port=${serverPort || 5432} user=${username}`,
    '[pgbouncer]',
    'listen_addr = 127.0.0.1',
    `listen_port = ${port}`,
    'unix_socket_dir =',
    'auth_type = any',
    'pool_mode = transaction',
    // One connection to the server, so that all clients share what is prepared on it.
    'default_pool_size = 1',
    ...(knowsPreparedStatements() ? ['max_prepared_statements = 0'] : []),
    ...settings,
  ]
  writeFileSync(file, `${lines.join('\n')}\n`)
  chmodSync(folder, 0o755)
  // It refuses to run as root.
  const user = process.getuid?.() === 0 ? ['-u', 'nobody'] : []
  const bouncer = spawn('pgbouncer', [...user, file], { stdio: 'ignore' })
  onTestFinished(() => ended(bouncer))
  await until('PgBouncer listens', () => answers(port))
  return port
}

/** From 1.21 on it can tell apart what each client has prepared; hosts have older ones, or switch that off. */
function knowsPreparedStatements(): boolean {
  const [, major, minor] = /(\d+)\.(\d+)/.exec(execFileSync('pgbouncer', ['--version'], { encoding: 'utf8' })) ?? []
  return Number(major) > 1 || Number(minor) >= 21
}

async function ended(child: ChildProcess): Promise<void> {
  if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return
  child.kill('SIGKILL')
  await once(child, 'exit')
}

async function answers(port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1')
  try {
    await once(socket, 'connect')
    return true
  } catch {
    return false
  } finally {
    socket.destroy()
  }
}
