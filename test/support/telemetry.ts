import {
  type Attributes,
  type BatchObservableCallback,
  type Meter,
  metrics,
  type Observable,
  type Span,
  type Tracer,
  trace,
} from '@opentelemetry/api'
import { onTestFinished } from 'vitest'

/** What an SDK would have exported. */
export interface Exported {
  measured: { name: string; value: number; attributes: Attributes }[]
  spans: { name: string; attributes: Attributes; failed: boolean }[]
  /** What a reader of metrics gets that collects now. */
  collect(): Promise<{ name: string; value: number; attributes: Attributes }[]>
}

/** Plays an SDK behind the real API, until the test ends. */
export function startTelemetry(): Exported {
  const measured: Exported['measured'] = []
  const spans: Exported['spans'] = []
  const callbacks = new Set<BatchObservableCallback>()
  const names = new WeakMap<object, string>()

  const recorder =
    (name: string) =>
    (value: number, attributes: Attributes = {}) =>
      void measured.push({ name, value, attributes })
  const observable = (name: string) => {
    const made = { addCallback() {}, removeCallback() {} }
    names.set(made, name)
    return made
  }
  const meter: Meter = {
    createCounter: (name: string) => ({ add: recorder(name) }),
    createHistogram: (name: string) => ({ record: recorder(name) }),
    createObservableCounter: observable,
    createObservableGauge: observable,
    addBatchObservableCallback: (callback: BatchObservableCallback) => void callbacks.add(callback),
    removeBatchObservableCallback: (callback: BatchObservableCallback) => void callbacks.delete(callback),
  } as unknown as Meter

  metrics.setGlobalMeterProvider({ getMeter: () => meter })
  trace.setGlobalTracerProvider({ getTracer: () => tracerInto(spans) })
  onTestFinished(() => {
    metrics.disable()
    trace.disable()
  })
  return {
    measured,
    spans,
    async collect() {
      const found: Exported['measured'] = []
      const observe = (of: Observable, value: number, attributes: Attributes = {}) =>
        void found.push({ name: names.get(of) ?? '', value, attributes })
      for (const callback of callbacks) await callback({ observe })
      return found
    },
  }
}

function tracerInto(spans: Exported['spans']): Tracer {
  return {
    startActiveSpan(name: string, options: { attributes: Attributes }, work: (span: Span) => unknown) {
      const span = { name, attributes: { ...options.attributes }, failed: false }
      const noting = {
        setAttributes: (more: Attributes) => void Object.assign(span.attributes, more),
        setAttribute: (key: string, value: string) => void Object.assign(span.attributes, { [key]: value }),
        setStatus: () => {
          span.failed = true
        },
        end: () => void spans.push(span),
      }
      return work(noting as unknown as Span)
    },
  } as unknown as Tracer
}
