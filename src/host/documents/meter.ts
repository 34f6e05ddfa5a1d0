import { type Context, createContext, Script } from 'node:vm'
import { queryInvalid, type StoreError } from './store-error.js'

/** How much one call of the Datastore, or one query, may do. docs/host/documents.md says these numbers. */
export const bounds = {
  /** Units of one document: operators of expressions, and what they make. 16 characters of a text are one. */
  units: 1_000_000,
  /** Units after which an evaluation goes on under a time limit only. */
  unwatchedUnits: 10_000,
  /** Steps that nothing counts, such as those of a regular expression, after which it is so too. */
  unwatchedSteps: 1_000_000,
  /** Milliseconds for a document under a time limit. */
  documentMs: 1_000,
  /** For one sort. */
  sortMs: 5_000,
  /** For all that one call does under a time limit. */
  callMs: 10_000,
  /** Units by which the projected documents of one call may be larger than those that are stored. */
  callUnits: 4_000_000,
  sortFields: 32,
  /** Names in a path. */
  pathNames: 64,
  /** Positions that an update may add behind the end of a list. */
  newPositions: 10_000,
  /** Characters of a regular expression. */
  pattern: 16_384,
  /** Of `\p{…}` in one with the flag `u`, and with `iu`. */
  properties: 32,
  foldedProperties: 8,
  /** Of classes, and of escapes and dots that stand for several characters, in one with the flag `u`. */
  characterSets: 1_000,
} as const

/** Of a text. */
export const charactersOfUnit = 16

/** Says that a job has to run again, under a time limit. */
export const unwatched: unique symbol = Symbol('unwatched')

/** Counts the work of the evaluation that runs now. All evaluations of a process share one, since none of them waits. */
export class Meter {
  private units = 0
  private steps = 0
  private isWatched = false
  /** Where jobs with a time limit run. */
  private stage: Context | null = null
  private stop: StoreError | typeof unwatched | null = null
  private known: WeakMap<object, number> | null = null

  /** Begins with another document. */
  begin(): void {
    this.units = 0
    this.steps = 0
    this.known = null
  }

  /** The sizes of values that the current document has led to. */
  get sizes(): WeakMap<object, number> {
    this.known ??= new WeakMap()
    return this.known
  }

  /** @throws when it is too much */
  spend(units: number): void {
    this.units += units
    if (!(this.units <= bounds.units)) throw this.end(tooLarge())
    if (!this.isWatched && this.units > bounds.unwatchedUnits) throw this.end(unwatched)
  }

  /** Takes the size of a value with all that it holds. @throws {StoreError} `query_invalid` when it is too large */
  hold(units: number): void {
    if (!(units <= bounds.units)) throw this.end(tooMuchHeld())
  }

  /** Says how many steps follow that nothing counts. @throws when they want a time limit */
  expect(steps: number): void {
    this.steps += steps
    if (!this.isWatched && !(this.steps <= bounds.unwatchedSteps)) throw this.end(unwatched)
  }

  /** Of the current document, in steps. */
  get cost(): number {
    return this.units * stepsOfUnit + this.steps
  }

  /** Runs without a time limit. `unwatched` when the job wants one. */
  attempt<T>(job: () => T): T | typeof unwatched {
    try {
      return this.run(job)
    } catch (error) {
      if (error === unwatched) return unwatched
      throw error
    }
  }

  /** @throws {StoreError} `query_invalid` when the time is over */
  watch<T>(job: () => T, milliseconds: number): T {
    this.isWatched = true
    try {
      this.stage ??= createContext({ job: null })
      const { stage } = this
      return this.run(() => within(stage, job, milliseconds))
    } finally {
      this.isWatched = false
    }
  }

  private run<T>(job: () => T): T {
    this.begin()
    this.stop = null
    const result = job()
    // Some operators give another value instead of an error.
    if (this.stop !== null) throw this.stop
    return result
  }

  private end(stop: StoreError | typeof unwatched): StoreError | typeof unwatched {
    this.stop = stop
    return stop
  }
}

/** Resolves after all else has run, for one caller after another. */
export type Rounds = () => Promise<void>

export function createRounds(): Rounds {
  let last = Promise.resolve()
  return () => {
    last = last.then(() => new Promise((resolve) => setImmediate(resolve)))
    return last
  }
}

interface EffortPorts {
  meter: Meter
  rounds: Rounds
  /** Milliseconds of a clock that is never set back. */
  nowMs(): number
}

const stepsOfUnit = 200
/** About 50 ms. */
const roundSteps = 5_000_000

/** What one call does with documents, so that no call keeps the process from all else. */
export class Effort {
  /** A document wanted a time limit, so the next ones will, too. */
  isHeavy = false
  private readonly ports: EffortPorts
  private leftMs: number = bounds.callMs
  private leftUnits: number = bounds.callUnits
  private steps = 0

  constructor(ports: EffortPorts) {
    this.ports = ports
  }

  /** Whether others wait for long enough. */
  get isDue(): boolean {
    return this.steps > roundSteps
  }

  rest(): Promise<void> {
    this.steps = 0
    return this.ports.rounds()
  }

  /** `unwatched` when the job is for `watch`. It runs again there, so it must not change what it reads. */
  attempt<T>(job: () => T, steps: number): T | typeof unwatched {
    this.steps += 50 + steps
    if (!this.isHeavy && steps <= bounds.unwatchedSteps) {
      const result = this.ports.meter.attempt(job)
      this.steps += this.ports.meter.cost
      if (result !== unwatched) return result
    }
    this.isHeavy = true
    return unwatched
  }

  /** Runs a job for which there is a time limit, after a turn of all others. @throws {StoreError} `query_invalid` */
  async watch<T>(job: () => T, milliseconds: number = bounds.documentMs): Promise<T> {
    await this.rest()
    if (this.leftMs <= 0) throw tooLong(bounds.callMs)
    const { nowMs, meter } = this.ports
    const began = nowMs()
    try {
      return meter.watch(job, Math.ceil(Math.min(milliseconds, this.leftMs)))
    } finally {
      this.leftMs -= nowMs() - began
    }
  }

  /** Takes by how many units a result is larger than its document. @throws {StoreError} `query_invalid` */
  give(units: number): void {
    this.leftUnits -= Math.max(0, units)
    if (this.leftUnits < 0) throw tooMuchGiven()
  }

  /** A promise only when the job is for `watch`. */
  perform<T>(job: () => T, steps: number): T | Promise<T> {
    const result = this.attempt(job, steps)
    return result === unwatched ? this.watch(job) : result
  }
}

const script = new Script('job()')
/** The engine ends what takes longer, also inside a regular expression. A timer could not: it would wait. */
function within<T>(stage: Context, job: () => T, milliseconds: number): T {
  let result: { value: T } | null = null
  stage.job = () => {
    result = { value: job() }
  }
  try {
    script.runInContext(stage, { timeout: milliseconds })
  } catch (error) {
    // The error belongs to the context, whose Error is another one.
    if (Reflect.get(Object(error), 'code') === 'ERR_SCRIPT_EXECUTION_TIMEOUT') {
      // With less, it is the time of the whole call that is over.
      throw tooLong(milliseconds < bounds.documentMs ? bounds.callMs : milliseconds)
    }
    throw error
  } finally {
    stage.job = null
  }
  return made(result)
}

/** TypeScript does not see that the job has run. */
function made<T>(result: { value: T } | null): T {
  if (result === null) throw new Error('The job has not run.')
  return result.value
}

function tooLong(milliseconds: number): StoreError {
  const seconds = Math.round(milliseconds / 1_000)
  return queryInvalid(
    `This query takes longer than ${seconds} s on documents as large as these. Use a simpler condition.`,
  )
}

function tooLarge(): StoreError {
  return queryInvalid(
    'An expression makes or visits more than 1,000,000 values for one document. Make lists smaller, or nest it less.',
  )
}

function tooMuchHeld(): StoreError {
  return queryInvalid(
    'An expression makes a value that holds more than 1,000,000 values. Repeat its parts less, or take fewer fields.',
  )
}

function tooMuchGiven(): StoreError {
  return queryInvalid(
    'The expressions of this query add more than 4,000,000 values to its results. Set a limit, or make less for each document.',
  )
}
