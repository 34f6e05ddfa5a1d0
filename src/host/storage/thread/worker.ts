import { type MessagePort, parentPort } from 'node:worker_threads'
import type { WireAnswer } from '../../documents/wire.js'
import { runCall, type SpacePorts } from '../calls.js'
import { judgeFault, reasonOf, unavailable } from '../faults.js'
import type { NumberedRequest, OpenPlace, ThreadReply, ThreadRequest } from '../messages.js'
import { answerCall } from './answer.js'
import { createDocuments } from './documents.js'
import { createKeyValues } from './key-values.js'
import { openSpaceFile, type SpaceFile } from './space-file.js'
import { tidy } from './tidy.js'

interface OpenSpace extends SpacePorts {
  file: SpaceFile
  documentBytes: number
}

/** Longer texts leave the thread as bytes, which are moved and not copied. */
const longText = 16 * 1024

/** The program of a data thread: SQL of many spaces, one transaction after another. */
function serve(port: MessagePort): void {
  const spaces = new Map<number, Promise<OpenSpace>>()
  let nowMs = 0
  const now = () => nowMs

  async function open(place: OpenPlace): Promise<OpenSpace> {
    const file = await openSpaceFile(place)
    const ports = { documents: createDocuments(file), keyValues: createKeyValues(file, now) }
    return { ...ports, file, documentBytes: place.documentBytes }
  }

  async function run(request: ThreadRequest, report: (error: unknown) => void): Promise<unknown> {
    if (request.kind === 'open') {
      const opened = open(request.place)
      spaces.set(request.space, opened)
      await opened
      return null
    }
    if (request.kind === 'close') {
      const closing = spaces.get(request.space)
      spaces.delete(request.space)
      ;(await closing)?.file.close()
      return null
    }
    const space = await spaces.get(request.space)
    if (!space) throw unavailable()
    if (request.kind === 'usage') return { bytes: space.file.usedBytes() }
    nowMs = request.nowMs
    if (request.kind === 'tidy') return tidy(space.file, nowMs)
    if (request.kind === 'call') return runCall(space, request.call, request.input, space)
    const judge = (error: unknown) => {
      report(error)
      return judgeFault(error)
    }
    return answerCall(space, request.call, textOf(request.body), { documentBytes: space.documentBytes, judge })
  }

  async function reply({ id, request }: NumberedRequest): Promise<void> {
    const answer: ThreadReply = { id }
    const report = (error: unknown) => {
      const reason = reasonOf(error)
      if (reason !== null) answer.reason = reason
    }
    try {
      answer.value = await run(request, report)
    } catch (error) {
      report(error)
      const { code, message } = judgeFault(error)
      answer.fault = { code, message }
    }
    post(port, answer, request.kind)
  }

  port.on('message', (message: NumberedRequest) => void reply(message))
}

function textOf(body: string | Uint8Array<ArrayBuffer>): string {
  return typeof body === 'string' ? body : Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString()
}

function post(port: MessagePort, reply: ThreadReply, kind: ThreadRequest['kind']): void {
  const { value } = reply
  if (kind !== 'answer' || !isAnswer(value)) {
    port.postMessage(reply)
    return
  }
  const { status, text } = value
  const isLong = text.length > longText
  const body = isLong ? new TextEncoder().encode(text) : text
  port.postMessage({ ...reply, value: { status, body } }, typeof body === 'string' ? [] : [body.buffer])
}

function isAnswer(value: unknown): value is WireAnswer {
  return typeof value === 'object' && value !== null && 'status' in value && 'text' in value
}

if (parentPort) serve(parentPort)
