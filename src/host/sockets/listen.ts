import { once } from 'node:events'
import { chmod, lstat, rm } from 'node:fs/promises'
import type { Server } from 'node:http'
import { connect } from 'node:net'
import { SettingsError } from '../../errors.js'
import { hasCode } from '../has-code.js'
import type { ListenAddress } from '../settings/listen.js'

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
