import type { Attributes as ApiAttributes, BatchObservableResult, Meter, Observable, Tracer } from '@opentelemetry/api'
import { type InstrumentName, instruments } from './instruments.js'
import { noTelemetry, type Observation, type Telemetry } from './telemetry.js'

type Api = typeof import('@opentelemetry/api')

const scope = 'latchkey'

/**
 * Measurements and traces through `@opentelemetry/api`, where the application has installed it: it hands them to the SDK that
 * was started before, and to nobody where there is none.
 */
export async function openTelemetry(load: () => Promise<Api> = loadApi): Promise<Telemetry> {
  try {
    const api = await load()
    return createTelemetry(api, api.metrics.getMeter(scope), api.trace.getTracer(scope))
  } catch {
    // Not installed: the owner did not ask for it.
    return noTelemetry
  }
}

async function loadApi(): Promise<Api> {
  return import('@opentelemetry/api')
}

function createTelemetry({ SpanStatusCode }: Api, meter: Meter, tracer: Tracer): Telemetry {
  const { recorders, observables } = createInstruments(meter)
  const all = [...observables.values()]
  const stops: (() => void)[] = []
  return {
    measure: (name, value, attributes) => quietly(() => recorders.get(name)?.(value, attributes)),
    span: (name, attributes, work) =>
      tracer.startActiveSpan(name, { attributes }, async (span) => {
        try {
          return await work((more) => quietly(() => span.setAttributes(more)))
        } catch (error) {
          quietly(() => {
            // The class alone: a message could quote what the visitor sent.
            span.setStatus({ code: SpanStatusCode.ERROR })
            span.setAttribute('error.type', error instanceof Error ? error.name : 'unknown')
          })
          throw error
        } finally {
          quietly(() => span.end())
        }
      }),
    observe(source) {
      const callback = async (result: BatchObservableResult) => {
        const found = await source().catch((): Observation[] => [])
        for (const { name, value, attributes } of found) {
          const observable = observables.get(name)
          if (observable) result.observe(observable, value, attributes)
        }
      }
      meter.addBatchObservableCallback(callback, all)
      stops.push(() => meter.removeBatchObservableCallback(callback, all))
    },
    close: () => quietly(() => stops.splice(0).forEach((stop) => void stop())),
  }
}

/** One instrument for each row of the table. */
function createInstruments(meter: Meter) {
  const recorders = new Map<string, (value: number, attributes: ApiAttributes) => void>()
  const observables = new Map<string, Observable>()
  for (const [name, { kind, unit, description }] of Object.entries(instruments)) {
    const options = { unit, description }
    if (kind === 'counter') {
      const counter = meter.createCounter(name, options)
      recorders.set(name, (value, attributes) => counter.add(value, attributes))
    } else if (kind === 'histogram') {
      const histogram = meter.createHistogram(name, { ...options, advice: { explicitBucketBoundaries: seconds } })
      recorders.set(name, (value, attributes) => histogram.record(value, attributes))
    } else if (kind === 'gauge') observables.set(name, meter.createObservableGauge(name, options))
    else observables.set(name, meter.createObservableCounter(name, options))
  }
  return { recorders, observables } satisfies Record<string, Map<InstrumentName | string, unknown>>
}

/** As OpenTelemetry advises for `http.server.request.duration`. */
const seconds = [0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10]

/** An exporter of somebody else's must not end a request. */
function quietly(work: () => void): void {
  try {
    work()
  } catch {
    // Nobody is left to tell.
  }
}
