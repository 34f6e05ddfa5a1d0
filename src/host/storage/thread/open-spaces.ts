import type { WireAnswer } from '../../documents/wire.js'
import { requirePairs, runCall } from '../calls.js'
import type { CallBounds } from '../document-input.js'
import { judgeFault, unavailable } from '../faults.js'
import type { OpenPlace, SpaceLimits, ThreadRequest } from '../messages.js'
import type { OpenedData } from '../opened-space.js'
import { openSchema } from '../postgres/open-schema.js'
import { openPools, type Pools } from '../postgres/pool.js'
import { answerCall } from './answer.js'
import { raiseVersions } from './document-rows.js'
import { createDocuments } from './documents.js'
import { createIndexes } from './indexes.js'
import { createKeyValues, putPairs } from './key-values.js'
import { createSnapshots } from './snapshots.js'
import { openSpaceFile, type SpaceFileOptions } from './space-file.js'
import { tidy } from './tidy.js'

/** The files and schemas that a thread has open. */
export interface OpenSpaces {
  /**
   * What a request asks for: a `WireAnswer` for a call of the wire. `report` learns of errors that such an answer hides.
   *
   * @throws {StoreError} and what the driver throws
   */
  run(request: ThreadRequest, report: (error: unknown) => void): Promise<unknown>
}

type OpenSpace = OpenedData & CallBounds

export function createOpenSpaces(): OpenSpaces {
  const spaces = new Map<number, Promise<OpenSpace>>()
  const pools = new Map<string, Pools>()
  let nowMs = 0

  function poolsOf(url: string): Pools {
    const known = pools.get(url) ?? openPools(url)
    pools.set(url, known)
    return known
  }

  async function open(place: OpenPlace): Promise<OpenSpace> {
    const { documentBytes, depth } = place
    const data =
      'file' in place ? await openFile(place, () => nowMs) : await openSchema(poolsOf(place.url), place.schema, place)
    return { ...data, documentBytes, depth }
  }

  return {
    async run(request, report) {
      if (request.kind === 'open') {
        const opening = open(request.place)
        // Calls that follow at once wait for it.
        spaces.set(request.space, opening)
        try {
          await opening
        } catch (error) {
          spaces.delete(request.space)
          throw error
        }
        return null
      }
      const space = await spaces.get(request.space)
      if (!space) throw unavailable()
      if (request.kind === 'close') {
        spaces.delete(request.space)
        await space.close()
        return null
      }
      if (request.kind === 'versions') return space.versions(request.above)
      if (request.kind === 'putPairs') return space.putPairs(requirePairs(request.pairs, space))
      if (request.kind === 'beginSnapshot') return space.snapshots.begin(request.snapshot, request.nowMs)
      if (request.kind === 'readSnapshot') return space.snapshots.read(request.snapshot, request.read)
      if (request.kind === 'endSnapshot') return space.snapshots.end(request.snapshot)
      if (request.kind === 'usage') return { bytes: await space.usedBytes() }
      nowMs = request.nowMs
      if (request.kind === 'tidy') return space.tidy(nowMs)
      if (request.kind === 'call') return runCall(space, request.call, request.input, space)
      return answer(space, request, report)
    },
  }
}

async function openFile(
  place: SpaceFileOptions & Pick<SpaceLimits, 'indexes'>,
  now: () => number,
): Promise<OpenedData> {
  const file = await openSpaceFile(place)
  const snapshots = createSnapshots(place)
  return {
    documents: createDocuments(file),
    indexes: createIndexes(file, place.indexes),
    keyValues: createKeyValues(file, now),
    snapshots,
    versions: async (above) => raiseVersions(file, above),
    putPairs: async (pairs) => putPairs(file, pairs),
    usedBytes: async () => file.usedBytes(),
    tidy: async (nowMs) => tidy(file, nowMs),
    async close() {
      await snapshots.close()
      file.close()
    },
  }
}

function answer(
  space: OpenSpace,
  { call, body }: Extract<ThreadRequest, { kind: 'answer' }>,
  report: (error: unknown) => void,
): Promise<WireAnswer> {
  const judge = (error: unknown) => {
    report(error)
    return judgeFault(error)
  }
  return answerCall(space, call, textOf(body), { ...space, judge })
}

function textOf(body: string | Uint8Array<ArrayBuffer>): string {
  return typeof body === 'string' ? body : Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString()
}
