import { AuthError } from '../../errors.js'
import { mapError } from '../releases/source-positions.js'

/** A release that did not start. Its message has no secret of the space: it comes from the log. */
export class ReleaseFault extends AuthError {
  /** `file:line:column` in the project; null when the error names no place. */
  readonly position: string | null

  constructor(code: 'bundle_invalid' | 'application_timeout', message: string, position: string | null = null) {
    super(code, { detail: position === null ? message : `${message} (${position})` })
    this.name = 'ReleaseFault'
    this.position = position
  }
}

/** What is known of a process that ended too early. */
interface FailedStart {
  code: 'bundle_invalid' | 'application_timeout'
  /** One sentence: how it ended. */
  how: string
  /** The lines of stderr, without secrets. */
  errors: readonly string[]
  /** Path of `bundle.mjs`. */
  bundle: string
  /** Text of `bundle.mjs.map`; empty when the release has none. */
  map: string
}

const longestMessage = 500
/** Warnings that Node prints by itself, about deprecated modules for example. */
const nodeWarning = /^\((node:\d+\) |Use `node --trace-)/

/** The first error that the process printed, by the files of the project. */
export function faultOfStart({ code, how, errors, bundle, map }: FailedStart): ReleaseFault {
  const lines = errors.filter((line) => !nodeWarning.test(line))
  const { stack, place } = mapError({ stack: lines.join('\n'), bundle, map })
  const error = firstError(stack.split('\n'))
  const message = error === null ? how : `${how} ${error}`
  return new ReleaseFault(code, message.slice(0, longestMessage), place)
}

/** The head of the first stack; else the first line, which a bundle throws that throws no Error. */
function firstError(lines: readonly string[]): string | null {
  const frame = lines.findIndex((line) => /^ {2,}at /.test(line))
  const heads = lines.slice(0, frame === -1 ? lines.length : frame).filter((line) => line.trim() !== '')
  return heads.findLast((line) => /^(Uncaught )?[\w.]*(Error|Exception)\b/.test(line)) ?? heads[0] ?? null
}
