import { remoteDocuments, remoteIndexes, remoteKeyValues } from '../../src/host/documents/remote-ports.js'
import type { WirePort } from '../../src/host/documents/wire.js'
import { runCall, type SpacePorts } from '../../src/host/storage/calls.js'
import { defaultLimits } from '../../src/host/storage/threads.js'
import type { SpaceStore } from './space-store.js'

export interface RecordedStore extends SpaceStore {
  /** What was asked, as `documents/get`. */
  calls: string[]
  /** How many documents a page of a scan holds at most. */
  pageRows: number
}

/** The data of a space without a thread. Arguments are checked, and go through JSON, as those of a child. */
export function recordedStore(ports: SpacePorts): RecordedStore {
  const calls: string[] = []
  const call = async (port: WirePort, verb: string, ...input: readonly unknown[]) => {
    calls.push(`${port}/${verb}`)
    const shorter = verb === 'scan' ? input.map((each) => withLimit(each, store.pageRows)) : input
    const sent: unknown = JSON.parse(JSON.stringify(shorter))
    const value = await runCall(ports, { port, verb }, Array.isArray(sent) ? sent : [], defaultLimits)
    return JSON.parse(JSON.stringify(value ?? null))
  }
  const store: RecordedStore = {
    documents: remoteDocuments(call),
    indexes: remoteIndexes(call),
    keyValues: remoteKeyValues(call),
    calls,
    pageRows: 10_000,
  }
  return store
}

function withLimit(argument: unknown, most: number): unknown {
  if (typeof argument !== 'object' || argument === null || !('limit' in argument)) return argument
  return { ...argument, limit: Math.min(Number(argument.limit), most) }
}
