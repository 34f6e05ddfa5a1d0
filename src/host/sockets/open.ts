import { once } from 'node:events'
import { chmod, lstat, rm } from 'node:fs/promises'
import type { Server } from 'node:http'
import { connect } from 'node:net'
import { SettingsError } from '../../errors.js'
import { json } from '../../http/problem.js'
import type { Handle } from '../../http/verdict.js'
import type { World } from '../../lib/runtime.js'
import type { Logger } from '../../settings.js'
import { createFront } from '../front/front.js'
import { createFrontServer, usualServerTimes } from '../front/server.js'
import type { SpaceDirectory } from '../front/space.js'
import { hasCode } from '../has-code.js'
import type { HostSettings } from '../settings/host-settings.js'
import type { ListenAddress } from '../settings/limits.js'
import { createAdminServer } from './admin-server.js'
import { createStopping, type StopTimes, usualStopTimes } from './stop.js'

interface SocketOptions {
  settings: Pick<HostSettings, 'baseUrl' | 'adminUrl' | 'listen' | 'adminListen' | 'limits'>
  spaces: SpaceDirectory
  /** Of the host's accounts. */
  handle: Handle
  timer: World['timer']
  logger: Logger
  /** Default: 5 s until no new requests are taken, 30 s for running ones. */
  stopTimes: StopTimes | undefined
}

interface OpenSockets {
  /** `/health` is 503 from now on; resolves when no connection is left. */
  stop(): Promise<void>
}

/**
 * Opens the spaces' socket and the admin's.
 *
 * @throws {SettingsError} `listen`, `adminListen`; neither is open then
 */
export async function openSockets(options: SocketOptions): Promise<OpenSockets> {
  const { settings, spaces, handle, timer, logger, stopTimes = usualStopTimes } = options
  const { baseUrl, adminUrl } = settings
  const health = () => (stopping.isStopping() ? json(503, { status: 'stopping' }) : json(200, { status: 'ok' }))
  const sizes = { target: settings.limits.targetBytes, headers: settings.limits.headersBytes }
  const front = createFrontServer(createFront({ baseUrl, spaces, health, logger, sizes }), usualServerTimes, sizes)
  const admin = createAdminServer({ adminUrl, handle, logger })
  const stopping = createStopping([front, admin], timer, stopTimes)
  // The admin first: when the spaces' socket answers, everything does.
  await listenAt(admin, 'adminListen', settings.adminListen)
  try {
    await listenAt(front, 'listen', settings.listen)
  } catch (error) {
    await ended(admin)
    throw error
  }
  return { stop: stopping.stop }
}

function ended(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve())
    server.closeAllConnections()
  })
}

/** Of a unix socket: proxies reach it as members of its group. */
const socketMode = 0o660

/**
 * Listens. A unix socket that a killed process has left is replaced, one that still answers is not.
 *
 * @param setting which setting names the address
 * @throws {SettingsError} when the address is taken or this process may not use it
 */
export async function listenAt(server: Server, setting: string, address: ListenAddress): Promise<void> {
  try {
    if (address.kind === 'tcp') await listen(server, { host: address.host, port: address.port })
    else await listenOnFile(server, address.path)
  } catch (error) {
    const message = listenFault(error)
    throw message === null ? error : new SettingsError([{ setting, message }])
  }
}

async function listenOnFile(server: Server, path: string): Promise<void> {
  await listen(server, { path }).catch(async (error: unknown) => {
    if (!hasCode(error, 'EADDRINUSE') || !(await isAbandoned(path))) throw error
    await rm(path, { force: true })
    await listen(server, { path })
  })
  await chmod(path, socketMode)
}

async function listen(server: Server, options: { host: string; port: number } | { path: string }): Promise<void> {
  const listening = once(server, 'listening')
  server.listen(options)
  await listening
}

/** A socket at which no process listens. Anything but a socket stays. */
async function isAbandoned(path: string): Promise<boolean> {
  const stats = await lstat(path).catch(() => null)
  if (stats === null || !stats.isSocket()) return false
  return new Promise((resolve) => {
    const peer = connect(path)
    peer.once('connect', () => {
      peer.destroy()
      resolve(false)
    })
    peer.once('error', (error) => resolve(hasCode(error, 'ECONNREFUSED')))
  })
}

function listenFault(error: unknown): string | null {
  if (hasCode(error, 'EADDRINUSE')) return 'is in use by another process. Stop it, or choose another address'
  if (hasCode(error, 'EACCES', 'EPERM')) return 'may not be used by this user. Choose a port above 1023 or another path'
  if (hasCode(error, 'EADDRNOTAVAIL', 'ENOTFOUND')) return 'is not an address of this machine'
  if (hasCode(error, 'ENOENT', 'ENOTDIR')) return 'is in a folder that does not exist. Create the folder'
  return null
}
