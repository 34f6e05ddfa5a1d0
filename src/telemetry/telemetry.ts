import type { InstrumentName, SpanName } from './instruments.js'

export type Attributes = Readonly<Record<string, string | number>>

/** A value of an observed metric at the moment that it is asked for. */
export interface Observation {
  name: InstrumentName
  value: number
  attributes?: Attributes
}

/** Where measurements and traces go. Nothing in it ever throws, and it changes nothing of what it measures. */
export interface Telemetry {
  /** Adds to a counter, or records into a histogram. */
  measure(name: InstrumentName, value: number, attributes: Attributes): void
  /** The work in a span of its own, below the one that is active; `note` adds what is known only afterwards. */
  span<T>(
    name: SpanName,
    attributes: Attributes,
    work: (note: (attributes: Attributes) => void) => Promise<T>,
  ): Promise<T>
  /** Asked whenever somebody collects; what rejects is left out. */
  observe(source: () => Promise<readonly Observation[]>): void
  /** Nobody is asked any more. */
  close(): void
}

/** Where `@opentelemetry/api` is not installed. */
export const noTelemetry: Telemetry = {
  measure() {},
  span: (_name, _attributes, work) => work(() => {}),
  observe() {},
  close() {},
}
