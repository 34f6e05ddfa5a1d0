import { memberOf } from '../lib/members.js'
import type { ScopedParts, Store } from '../store/store.js'
import { noTelemetry, type Telemetry } from '../telemetry/telemetry.js'

/** The store, each of its steps in a span. */
export function tracedStore(store: Store, telemetry: Telemetry): Store {
  if (telemetry === noTelemetry) return store
  return {
    ...store,
    users: traced('users', store.users, telemetry),
    identities: traced('identities', store.identities, telemetry),
    passkeys: traced('passkeys', store.passkeys, telemetry),
    sessions: traced('sessions', store.sessions, telemetry),
    oneTimeTokens: traced('oneTimeTokens', store.oneTimeTokens, telemetry),
    secondFactors: traced('secondFactors', store.secondFactors, telemetry),
    devices: traced('devices', store.devices, telemetry),
    counters: traced('counters', store.counters, telemetry),
    outbox: traced('outbox', store.outbox, telemetry),
    audit: traced('audit', store.audit, telemetry),
    ...tracedParts(store, telemetry),
    at: (scope) => tracedParts(store.at(scope), telemetry),
  }
}

function tracedParts({ apiTokens, accessSettings }: ScopedParts, telemetry: Telemetry): ScopedParts {
  return {
    apiTokens: traced('apiTokens', apiTokens, telemetry),
    accessSettings: traced('accessSettings', accessSettings, telemetry),
  }
}

function traced<Noun extends object>(name: string, noun: Noun, telemetry: Telemetry): Noun {
  return new Proxy(noun, {
    get(target, verb) {
      const step = memberOf(target, verb)
      if (typeof step !== 'function') return step
      const attributes = { 'db.operation.name': `${name}.${String(verb)}` }
      return (...input: unknown[]) =>
        telemetry.span('latchkey.store', attributes, () => Reflect.apply(step, target, input))
    },
  })
}
