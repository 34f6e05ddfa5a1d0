import type { Server } from 'node:http'
import { json } from '../../http/problem.js'
import type { Handle } from '../../http/verdict.js'
import type { World } from '../../lib/runtime.js'
import type { Logger } from '../../settings.js'
import { createFront } from '../front/front.js'
import { createFrontServer, usualServerTimes } from '../front/server.js'
import type { SpaceDirectory } from '../front/space.js'
import type { HostSettings } from '../settings/host-settings.js'
import { createAdminServer } from './admin-server.js'
import { listenAt } from './listen.js'
import { createStopping, type StopTimes, usualStopTimes } from './stop.js'

export interface SocketOptions {
  settings: Pick<HostSettings, 'baseUrl' | 'adminUrl' | 'listen' | 'adminListen' | 'limits'>
  spaces: SpaceDirectory
  /** Of the host's accounts. */
  handle: Handle
  timer: World['timer']
  logger: Logger
  /** Default: 5 s until no new requests are taken, 30 s for running ones. */
  stopTimes: StopTimes | undefined
}

export interface OpenSockets {
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
