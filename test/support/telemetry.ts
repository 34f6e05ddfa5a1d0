import { AsyncLocalStorage } from 'node:async_hooks'
import {
  type Attributes,
  type BatchObservableCallback,
  type Context,
  type ContextManager,
  context,
  createContextKey,
  type Meter,
  metrics,
  type Observable,
  ROOT_CONTEXT,
  type Span,
  SpanKind,
  type Tracer,
  trace,
} from '@opentelemetry/api'
import { onTestFinished } from 'vitest'

export interface ExportedSpan {
  name: string
  attributes: Attributes
  failed: boolean
  /** The span that it hangs below. */
  parent: ExportedSpan | null
  /** Whether that one ended sooner. */
  outlivesParent: boolean
}

/** What an SDK would have exported. */
export interface Exported {
  measured: { name: string; value: number; attributes: Attributes }[]
  spans: ExportedSpan[]
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
  context.setGlobalContextManager(contexts())
  onTestFinished(() => {
    metrics.disable()
    trace.disable()
    context.disable()
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

function tracerInto(spans: ExportedSpan[]): Tracer {
  const records = new WeakMap<Span, ExportedSpan>()
  const ended = new WeakSet<ExportedSpan>()
  return {
    startActiveSpan(name: string, options: { attributes: Attributes }, work: (span: Span) => unknown) {
      const active = context.active()
      const above = trace.getSpan(active)
      const parent = (above && records.get(above)) ?? null
      const record = { name, attributes: { ...options.attributes }, failed: false, parent, outlivesParent: false }
      const span = {
        setAttributes: (more: Attributes) => void Object.assign(record.attributes, more),
        setAttribute: (key: string, value: string) => void Object.assign(record.attributes, { [key]: value }),
        setStatus: () => {
          record.failed = true
        },
        end() {
          record.outlivesParent = parent !== null && ended.has(parent)
          ended.add(record)
          spans.push(record)
        },
      } as unknown as Span
      records.set(span, record)
      return context.with(trace.setSpan(active, span), () => work(span))
    },
  } as unknown as Tracer
}

/** What is active follows promises and timers, as with the context manager of an SDK. */
function contexts(): ContextManager {
  const storage = new AsyncLocalStorage<Context>()
  const manager: ContextManager = {
    active: () => storage.getStore() ?? ROOT_CONTEXT,
    with: (active, work, thisArg, ...values) => storage.run(active, () => work.apply(thisArg, values)),
    bind: (_active, target) => target,
    enable: () => manager,
    disable: () => manager,
  }
  return manager
}

/** Plays instrumentation of `node:http` around a request: what is known of it when it has ended. */
export async function underHttpSpan(request: () => Promise<unknown>): Promise<{ span: Attributes; metadata: object }> {
  const attributes: Attributes = {}
  const setAttribute = (key: string, value: string) => void Object.assign(attributes, { [key]: value })
  const span = { kind: SpanKind.SERVER, setAttribute } as unknown as Span
  const metadata = { type: 'http', span }
  const key = createContextKey('OpenTelemetry SDK Context Key RPC_METADATA')
  await context.with(trace.setSpan(ROOT_CONTEXT, span).setValue(key, metadata), request)
  return { span: attributes, metadata }
}
