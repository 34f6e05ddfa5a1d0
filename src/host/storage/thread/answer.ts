import { isWithinBounds } from '../../documents/bounded-json.js'
import { queryInvalid } from '../../documents/store-error.js'
import { type WireAnswer, type WireCall, wireFault, wireValue } from '../../documents/wire.js'
import { runCall, type SpacePorts } from '../calls.js'
import type { CallBounds } from '../document-input.js'

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
