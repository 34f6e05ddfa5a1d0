import type { Server } from 'node:http'
import type { World } from '../../lib/runtime.js'

/** Milliseconds. */
export interface StopTimes {
  /** From the moment on at which `/health` is 503 until no new requests are taken: proxies must notice. */
  noticeMs: number
  /** How long running requests may take then. */
  drainMs: number
}

export const usualStopTimes: StopTimes = { noticeMs: 5_000, drainMs: 30_000 }

export interface Stopping {
  /** True from the first call of `stop` on: `/health` is then 503. */
  isStopping(): boolean
  /** Resolves when no server has a connection any more. Repeated calls are one. */
  stop(): Promise<void>
}

/** Ends servers so that no request is lost behind a proxy that asks for health. */
export function createStopping(
  servers: readonly Server[],
  timer: World['timer'],
  times: StopTimes = usualStopTimes,
): Stopping {
  let stopping: Promise<void> | null = null

  async function stop(): Promise<void> {
    if (servers.some(({ listening }) => listening)) await pause(timer, times.noticeMs)
    const cancel = timer(times.drainMs, () => {
      for (const server of servers) server.closeAllConnections()
    })
    await Promise.all(servers.map((server) => closed(server, timer)))
    cancel()
  }

  return {
    isStopping: () => stopping !== null,
    stop() {
      stopping ??= stop()
      return stopping
    },
  }
}

/** How soon a connection ends after the last of its answers. */
const idleMs = 100

/** Stops to listen at once, ends connections as they become idle, and waits for the last. */
function closed(server: Server, timer: World['timer']): Promise<void> {
  return new Promise((resolve) => {
    let isClosed = false
    server.close(() => {
      isClosed = true
      resolve()
    })
    const endIdle = () => {
      server.closeIdleConnections()
      if (!isClosed) timer(idleMs, endIdle)
    }
    endIdle()
  })
}

function pause(timer: World['timer'], milliseconds: number): Promise<void> {
  return new Promise((resolve) => {
    timer(milliseconds, resolve)
  })
}
