import { constants } from 'node:os'
import type { Readable } from 'node:stream'
import { parseJsonObject } from '../../lib/json-object.js'

/** What bubblewrap reports of the process in the sandbox. */
export interface SandboxStatus {
  /** Its id on this machine; null: there was none. */
  pid: Promise<number | null>
  /** How it ended, when bubblewrap is gone. null: the sandbox came to an end, not the application. */
  end: Promise<ChildEnd | null>
}

export interface ChildEnd {
  code: number | null
  signal: NodeJS.Signals | null
}

const mostCharacters = 64 * 1024
/** Added to the number of a signal. */
const signalBase = 128

/** Reads two lines of JSON: one at the start, and one at the end. Nothing of the application gets into them. */
export function readStatus(stream: Readable): SandboxStatus {
  let text = ''
  const values = () => text.split('\n').map((line) => parseJsonObject(line) ?? {})
  const numberOf = (name: string) => values().flatMap((each) => (typeof each[name] === 'number' ? each[name] : []))[0]
  stream.setEncoding('utf8')
  stream.on('error', () => {})
  const closed = new Promise<void>((resolve) => stream.once('close', () => resolve()))
  const pid = new Promise<number | null>((resolve) => {
    stream.on('data', (chunk: string) => {
      if (text.length < mostCharacters) text += chunk
      const found = numberOf('child-pid')
      if (found !== undefined) resolve(found)
    })
    void closed.then(() => resolve(null))
  })
  return {
    pid,
    end: closed.then(() => {
      const code = numberOf('exit-code')
      return code === undefined ? null : endOf(code)
    }),
  }
}

function endOf(code: number): ChildEnd {
  const [signal = null] = code > signalBase ? signalsOf(code - signalBase) : []
  return { code: signal === null ? code : null, signal }
}

function signalsOf(number: number): NodeJS.Signals[] {
  return Object.entries(constants.signals).flatMap(([name, each]) => (each === number && isSignal(name) ? [name] : []))
}

function isSignal(name: string): name is NodeJS.Signals {
  return name in constants.signals
}
