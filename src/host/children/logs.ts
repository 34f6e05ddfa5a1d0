import type { Readable } from 'node:stream'
import { copiedText } from '../../lib/copied-text.js'
import type { World } from '../../lib/runtime.js'
import type { Blanker } from './blank-secrets.js'

type LogLevel = 'info' | 'error'

/** One line that the application printed, without secrets. */
export interface LogLine {
  /** Unix milliseconds. */
  at: number
  /** `info` is stdout, `error` is stderr. */
  level: LogLevel
  text: string
}

interface LogFilter {
  /** Unix milliseconds: lines of this moment and later. */
  since?: number
  level?: LogLevel
}

/** The last lines of a space, over all of its children. */
export interface SpaceLog {
  /** The last `count` lines that fit the filter, the oldest first. */
  last(count: number, filter?: LogFilter): LogLine[]
  /** Calls back with each new line. The result ends it. */
  follow(callback: (line: LogLine) => void): () => void
}

export interface LogLimits {
  /** Of all lines that are kept. */
  bytes: number
  /** Of one line. */
  lineBytes: number
  linesPerSecond: number
  /** What is read of one stream in a second. Beyond it the child has to wait, so reading costs the host little. */
  bytesPerSecond: number
}

const mebibyte = 1024 * 1024
export const defaultLogLimits: LogLimits = {
  bytes: 5 * mebibyte,
  lineBytes: 16 * 1024,
  linesPerSecond: 1_000,
  bytesPerSecond: 4 * mebibyte,
}

/** A space's log as the supervisor fills it. */
export interface OpenLog extends SpaceLog {
  /** A line of the host itself, never dropped. */
  note(level: LogLevel, text: string): void
  /**
   * Reads a stream of a child to its end.
   *
   * @param onLine also gets each line that is kept
   */
  read(stream: Readable, level: LogLevel, blanker: Blanker, onLine?: (text: string) => void): void
}

type LogWorld = Pick<World, 'now' | 'monotonic' | 'timer'>

/** Roughly what the objects of one line occupy beside its text. */
const lineOverheadBytes = 100
const second = 1_000

export function createLog(world: LogWorld, limits: LogLimits): OpenLog {
  const ring = createRing(world, limits.bytes)
  const gate = createGate(world, limits.linesPerSecond, (dropped) => {
    ring.keep(
      'error',
      `Latchkey: ${dropped} lines were dropped. A space may log ${limits.linesPerSecond} lines a second.`,
    )
  })
  return {
    note: ring.keep,
    last: ring.last,
    follow: ring.follow,
    read(stream, level, blanker, onLine) {
      const reader = createLineReader({
        // So that a secret that the cut divides is still known as one.
        lineBytes: limits.lineBytes + blanker.longest * mostBytesOfCharacter,
        onLine(line, missing) {
          if (!gate()) return
          const text = cut(blanker.blank(line, limits.lineBytes), line.length + missing, limits.lineBytes)
          ring.keep(level, text)
          onLine?.(text)
        },
      })
      paced(stream, world.timer, limits.bytesPerSecond, reader.take)
      stream.once('end', reader.end)
      stream.on('error', () => {})
    },
  }
}

interface Ring extends SpaceLog {
  keep(level: LogLevel, text: string): void
}

function createRing({ now }: LogWorld, mostBytes: number): Ring {
  const followers = new Set<(line: LogLine) => void>()
  let lines: LogLine[] = []
  let bytes = 0

  /** A tenth at a time, because taking single lines off the front of a long list is slow. */
  function shorten(): void {
    let gone = 0
    for (const line of lines) {
      if (bytes <= mostBytes * 0.9) break
      bytes -= sizeOf(line)
      gone += 1
    }
    lines = lines.slice(gone)
  }

  return {
    keep(level, text) {
      const line = { at: now(), level, text: copiedText(text) }
      lines.push(line)
      bytes += sizeOf(line)
      if (bytes > mostBytes) shorten()
      for (const follower of followers) follower(line)
    },
    last: (count, filter = {}) => (count > 0 ? lines.filter((line) => fits(line, filter)).slice(-count) : []),
    follow(callback) {
      followers.add(callback)
      return () => followers.delete(callback)
    },
  }
}

/** Whether one more line may be kept in this second. What was dropped is reported once, when the second is over. */
function createGate({ monotonic, timer }: LogWorld, most: number, report: (dropped: number) => void): () => boolean {
  let start = monotonic()
  let taken = 0
  let dropped = 0

  function finish(): void {
    const count = dropped
    dropped = 0
    if (count > 0) report(count)
  }

  return () => {
    if (monotonic() - start >= second) {
      start = monotonic()
      taken = 0
      finish()
    }
    taken += 1
    if (taken <= most) return true
    dropped += 1
    if (dropped === 1) timer(second, finish)
    return false
  }
}

const mostBytesOfCharacter = 3

function cut(text: string, length: number, most: number): string {
  return length <= most ? text : `${text.slice(0, most)} … (${length - most} more)`
}

function sizeOf(line: LogLine): number {
  return Buffer.byteLength(line.text) + lineOverheadBytes
}

function fits(line: LogLine, { since, level }: LogFilter): boolean {
  return (since === undefined || line.at >= since) && (level === undefined || line.level === level)
}

/** Reads at most so many bytes between two ticks of a second. The rest waits in the pipe, and the writer with it. */
function paced(stream: Readable, timer: World['timer'], most: number, take: (chunk: Buffer) => void): void {
  let bytes = 0
  let isTicking = false

  function tick(): void {
    isTicking = false
    bytes = 0
    stream.resume()
  }

  stream.on('data', (chunk: Buffer) => {
    take(chunk)
    bytes += chunk.length
    if (!isTicking) {
      isTicking = true
      timer(second, tick)
    }
    if (bytes > most) stream.pause()
  })
}

/** How a stream of bytes becomes lines. */
interface LineRules {
  /** Of one line, in bytes. What is beyond is thrown away and counted. */
  lineBytes: number
  /** A whole line and how many bytes of it are missing at its end. */
  onLine(line: string, missingBytes: number): void
}

/** Joins chunks to lines and holds at most one line. */
interface LineReader {
  take(chunk: Buffer): void
  /** What has no line end yet becomes a line. */
  end(): void
}

const lineEnd = 10

function createLineReader({ lineBytes, onLine }: LineRules): LineReader {
  let parts: Buffer[] = []
  let held = 0
  let missing = 0

  function add(piece: Buffer): void {
    const room = lineBytes - held
    // Copied, because a piece would keep its whole chunk in memory.
    if (room > 0 && piece.length > 0) parts.push(Buffer.from(piece.subarray(0, room)))
    held += Math.min(room, piece.length)
    missing += Math.max(0, piece.length - room)
  }

  function finish(): void {
    const text = Buffer.concat(parts).toString()
    const lost = missing
    parts = []
    held = 0
    missing = 0
    onLine(text.endsWith('\r') ? text.slice(0, -1) : text, lost)
  }

  return {
    take(chunk) {
      let start = 0
      for (let end = chunk.indexOf(lineEnd); end !== -1; end = chunk.indexOf(lineEnd, start)) {
        add(chunk.subarray(start, end))
        finish()
        start = end + 1
      }
      add(chunk.subarray(start))
    },
    end() {
      if (held > 0) finish()
    },
  }
}
