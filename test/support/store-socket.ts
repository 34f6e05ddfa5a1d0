import { judgeFault } from '../../src/host/storage/messages.js'
import { serveData } from '../../src/host/storage/server.js'
import { answerCall } from '../../src/host/storage/thread/open-spaces.js'
import { defaultLimits } from '../../src/host/storage/threads.js'
import type { SpaceStore } from './space-store.js'

export interface StoreSocket {
  /** What was asked, as `documents/get`. */
  calls: string[]
  close(): Promise<void>
}

/** The front's side of the data socket, over any implementation of the ports. */
export async function serveStore(store: SpaceStore, socketPath: string, key: string): Promise<StoreSocket> {
  const calls: string[] = []
  const bounds = { ...defaultLimits, judge: judgeFault }
  const server = await serveData({
    socketPath,
    key,
    data: {
      async answer(call, body) {
        calls.push(`${call.port}/${call.verb}`)
        const text = typeof body === 'string' ? body : Buffer.from(body).toString()
        const answer = await answerCall(store, call, text, bounds)
        return { status: answer.status, body: answer.text }
      },
    },
  })
  return { calls, close: server.close }
}
