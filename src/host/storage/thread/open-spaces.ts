import { isWithinBounds } from '../../documents/bounded-json.js'
import { queryInvalid } from '../../documents/store-error.js'
import { type WireAnswer, type WireCall, wireFault, wireValue } from '../../documents/wire.js'
import type { CallBounds, OpenedData } from '../calls.js'
import { requirePairs, runCall, type SpacePorts } from '../calls.js'
import type { OpenPlace, SpaceLimits, ThreadRequest } from '../messages.js'
import { judgeFault, unavailable } from '../messages.js'
import { openSchema } from '../postgres/open-schema.js'
import { openPools, type Pools } from '../postgres/pool.js'
import { createDocuments, raiseVersions } from './documents.js'
import { createIndexes } from './indexes.js'
import { createKeyValues, putPairs } from './key-values.js'
import { createSnapshots } from './snapshots.js'
import { openSpaceFile, type SpaceFileOptions } from './space-file.js'
import { tidy } from './tidy.js'

/** The files and schemas that a thread has open. */
interface OpenSpaces {
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

/** Arguments are at most a list of 1,000 rows with three fields each. */
const argumentBounds = { depth: 8, parts: 10_000 }

interface AnswerOptions extends CallBounds {
  /** What a rejection that is no `StoreError` becomes, after it was reported. */
  judge(error: unknown): unknown
}

/** Answers a call of the wire. Never rejects. */
export async function answerCall(
  ports: SpacePorts,
  call: WireCall,
  body: string,
  { judge, ...bounds }: AnswerOptions,
): Promise<WireAnswer> {
  try {
    return wireValue(await runCall(ports, call, readArguments(body), bounds))
  } catch (error) {
    return wireFault(judge(error))
  }
}

function readArguments(body: string): readonly unknown[] {
  if (!isWithinBounds(body, argumentBounds)) throw queryInvalid('The arguments of this call have another shape.')
  const input = parse(body)
  if (Array.isArray(input)) return input
  throw queryInvalid('The arguments of a call are a JSON list.')
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}
