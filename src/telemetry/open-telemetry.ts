import { createRequire } from 'node:module'
import type { Attributes as ApiAttributes, BatchObservableResult, Meter, Observable, Tracer } from '@opentelemetry/api'
import { memberOf } from '../lib/members.js'
import { requirePackage } from '../lib/optional-package.js'
import { type InstrumentName, instruments } from './instruments.js'
import { noTelemetry, type Observation, type Telemetry } from './telemetry.js'

const require = createRequire(import.meta.url ?? __filename)

type Api = typeof import('@opentelemetry/api')

const scope = 'latchkey'

/**
 * Measurements and traces through `@opentelemetry/api`, if the application has installed it. The API passes them to the SDK
 * that was started before, and drops them without an SDK.
 */
export async function openTelemetry(load: () => Promise<Api> = loadApi): Promise<Telemetry> {
  try {
    const api = await load()
    return createTelemetry(api, api.metrics.getMeter(scope), api.trace.getTracer(scope))
  } catch {
    // Not installed, so the application does not want it.
    return noTelemetry
  }
}

async function loadApi(): Promise<Api> {
  return requirePackage('@opentelemetry/api', () => require('@opentelemetry/api'))
}

function createTelemetry(api: Api, meter: Meter, tracer: Tracer): Telemetry {
  const { SpanStatusCode, context, ROOT_CONTEXT } = api
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
            // The class alone, because a message could quote the visitor's input.
            span.setStatus({ code: SpanStatusCode.ERROR })
            span.setAttribute('error.type', error instanceof Error ? error.name : 'unknown')
          })
          throw error
        } finally {
          quietly(() => span.end())
        }
      }),
    apart: (work) => context.with(ROOT_CONTEXT, work),
    route: (route) => quietly(() => nameRoute(api, route)),
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

/** `@opentelemetry/core` keeps the data of HTTP instrumentation about a request under this name. */
const rpcMetadata = 'OpenTelemetry SDK Context Key RPC_METADATA'

/**
 * Instrumentation of `node:http` copies the route from its metadata to its span when the response ends. Other
 * instrumentation has no metadata; there the HTTP span is the active one.
 */
function nameRoute({ context, createContextKey, trace, SpanKind }: Api, route: string): void {
  const active = context.active()
  const metadata = active.getValue(createContextKey(rpcMetadata))
  if (typeof metadata === 'object' && metadata !== null && memberOf(metadata, 'type') === 'http') {
    Object.assign(metadata, { route })
  }
  const span = trace.getSpan(active)
  if (memberOf(span, 'kind') === SpanKind.SERVER) span?.setAttribute('http.route', route)
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

/** The bounds that OpenTelemetry recommends for `http.server.request.duration`. */
const seconds = [0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10]

/** A failing exporter of the application must not end a request. */
function quietly(work: () => void): void {
  try {
    work()
  } catch {
    // There is no further place to report the failure to.
  }
}
