import type { InstrumentName, SpanName } from './instruments.js'

export type Attributes = Readonly<Record<string, string | number>>

/** A value of an observed metric at the moment of its collection. */
export interface Observation {
  name: InstrumentName
  value: number
  attributes?: Attributes
}

/** Where measurements and traces go. It never throws and changes nothing of what it measures. */
export interface Telemetry {
  /** Adds to a counter, or records into a histogram. */
  measure(name: InstrumentName, value: number, attributes: Attributes): void
  /** Runs the work in a span of its own, below the active one; `note` adds attributes that are known only afterwards. */
  span<T>(
    name: SpanName,
    attributes: Attributes,
    work: (note: (attributes: Attributes) => void) => Promise<T>,
  ): Promise<T>
  /**
   * Runs the work below no span. Mails and timers outlive the request that caused them, and a span must not hang below
   * one that has ended.
   */
  apart<T>(work: () => T): T
  /** Gives the route to the HTTP span that the application's own instrumentation opened for this request. */
  route(route: string): void
  /** Calls the source whenever metrics are collected. A source that rejects is left out. */
  observe(source: () => Promise<readonly Observation[]>): void
  /** Stops all observation. */
  close(): void
}

/** Used where `@opentelemetry/api` is not installed. */
export const noTelemetry: Telemetry = {
  measure() {},
  span: (_name, _attributes, work) => work(() => {}),
  apart: (work) => work(),
  route() {},
  observe() {},
  close() {},
}
