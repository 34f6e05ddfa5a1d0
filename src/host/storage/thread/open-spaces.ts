import type { WireAnswer } from '../../documents/wire.js'
import { runCall, type SpacePorts } from '../calls.js'
import { judgeFault, unavailable } from '../faults.js'
import type { OpenPlace, ThreadRequest } from '../messages.js'
import { answerCall } from './answer.js'
import { createDocuments } from './documents.js'
import { createIndexes } from './indexes.js'
import { createKeyValues } from './key-values.js'
import { openSpaceFile, type SpaceFile } from './space-file.js'
import { tidy } from './tidy.js'

/** The files that a thread has open. */
export interface OpenSpaces {
  /**
   * What a request asks for: a `WireAnswer` for a call of the wire. `report` learns of errors that such an answer hides.
   *
   * @throws {StoreError} and what SQLite throws
   */
  run(request: ThreadRequest, report: (error: unknown) => void): Promise<unknown>
}

interface OpenSpace extends SpacePorts {
  file: SpaceFile
  documentBytes: number
}

export function createOpenSpaces(): OpenSpaces {
  const spaces = new Map<number, Promise<OpenSpace>>()
  let nowMs = 0

  async function open(place: OpenPlace): Promise<OpenSpace> {
    const file = await openSpaceFile(place)
    return {
      documents: createDocuments(file),
      indexes: createIndexes(file),
      keyValues: createKeyValues(file, () => nowMs),
      file,
      documentBytes: place.documentBytes,
    }
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
        space.file.close()
        return null
      }
      if (request.kind === 'usage') return { bytes: space.file.usedBytes() }
      nowMs = request.nowMs
      if (request.kind === 'tidy') return tidy(space.file, nowMs)
      if (request.kind === 'call') return runCall(space, request.call, request.input, space)
      return answer(space, request, report)
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
  return answerCall(space, call, textOf(body), { documentBytes: space.documentBytes, judge })
}

function textOf(body: string | Uint8Array<ArrayBuffer>): string {
  return typeof body === 'string' ? body : Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString()
}
