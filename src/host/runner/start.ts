import type { Server } from 'node:http'
import { dirname } from 'node:path'
import { pathToFileURL } from 'node:url'
import { createCollections } from '../documents/collections.js'
import { loadMingo } from '../documents/mingo.js'
import { createDatastore } from './datastore/datastore.js'
import { createRemoteStore } from './datastore/remote-store.js'
import { createApplication } from './exchange/application.js'
import { type Manifest, requireManifest } from './exchange/manifest.js'
import { namesNotRun } from './exchange/not-run.js'
import { createFiles, type ReleaseFiles } from './files.js'
import { hostSymbol } from './hop.js'
import { createInternalFetch } from './internal-fetch.js'
import { createChildServer } from './server.js'
import type { StartOptions } from './start-options.js'
import { newId, nowMs, pause, setEnvironment } from './world.js'

export interface Started {
  server: Server
  /** What the application registers and this host does not run. */
  notRun: readonly string[]
}

/** Imports the bundle, runs its `startup` and listens. Rejects with what the bundle throws. */
export async function start(options: StartOptions): Promise<Started> {
  const { space, hash, env, limits, compat, keys, sockets, files } = options
  setEnvironment(env)
  const mingo = await loadMingo(files.mingo, nowMs)
  const { documents, indexes, keyValues } = createRemoteStore({ socketPath: sockets.data, key: keys.data })
  const literalDots = compat.dotPaths === 'literal'
  const store = { documents, indexes, mingo, newId, pause, nowMs, literalDots }
  const collections = createCollections({ ...store, report: logLine, onFault: logFault })
  const datastore = createDatastore({ collections, keyValues })
  const release = createFiles(dirname(files.bundle))
  setGlobals(datastore, release)
  Object.defineProperty(globalThis, hostSymbol, { value: Object.freeze({ space }) })

  const manifest = await importBundle(files.bundle)
  const spacePath = `/${space}`
  if (typeof manifest.app === 'object' && manifest.app !== null) {
    const internalFetch = createInternalFetch({ socketPath: sockets.requests, hopKey: keys.hop, spacePath })
    Object.assign(manifest.app, { internalFetch })
  }
  if (typeof manifest.startup === 'function') await manifest.startup()
  const serve = createApplication({
    manifest,
    spacePath,
    limits,
    compat,
    originOf: release.originOf,
    onFault: logFault,
  })
  const server = createChildServer({ serve, hopKey: keys.hop, hash, headerBytes: limits.headerBytes })
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(sockets.requests, resolve)
  })
  return { server, notRun: namesNotRun(manifest) }
}

/** Sets the names that codehooks-js looks for when it is loaded. */
export function setGlobals(datastore: object, { files }: ReleaseFiles): void {
  Object.assign(globalThis, { DB: datastore, Datastore: datastore, _coho_fs: files })
}

async function importBundle(file: string): Promise<Manifest> {
  const { default: manifest }: { default?: unknown } = await import(pathToFileURL(file).href)
  return requireManifest(manifest)
}

function logLine(line: string): void {
  // biome-ignore lint/suspicious/noConsole: as in logFault
  console.warn(line)
}

export function logFault(error: unknown): void {
  // biome-ignore lint/suspicious/noConsole: stderr of the child is the log of the space
  console.error(error)
}
