/** A metric as OpenTelemetry knows it. */
export interface Instrument {
  kind: 'counter' | 'histogram' | 'observed counter' | 'gauge'
  /** UCUM, as OpenTelemetry asks for. */
  unit: string
  /** Names of its attributes, in order. None ever holds an address, a name, a token or an id. */
  attributes: readonly string[]
  description: string
}

/** Every metric there is. Names that OpenTelemetry has conventions for are used as these say; the others begin with ours. */
export const instruments = {
  'latchkey.request.duration': {
    kind: 'histogram',
    unit: 's',
    attributes: ['http.request.method', 'http.route', 'http.response.status_code'],
    description: 'Requests to the auth routes, until they are answered.',
  },
  'latchkey.refusals': {
    kind: 'counter',
    unit: '{request}',
    attributes: ['error.type'],
    description: 'Requests to the auth routes that were refused, by the code of the error.',
  },
  'latchkey.guard.decisions': {
    kind: 'observed counter',
    unit: '{request}',
    attributes: ['latchkey.principal.kind', 'error.type'],
    description: 'What the guard decided: the kind of principal that passed, or the code of the refusal.',
  },
  'latchkey.audit.events': {
    kind: 'counter',
    unit: '{event}',
    attributes: ['latchkey.event', 'latchkey.outcome'],
    description: 'What was written into the audit log by this process; sign-ins are `login`.',
  },
  'latchkey.mails': {
    kind: 'counter',
    unit: '{mail}',
    attributes: ['latchkey.mail.template', 'latchkey.outcome', 'error.type'],
    description: 'Attempts to send a mail: `sent`, `failed` for now or `refused` for good, and why.',
  },
  'latchkey.hashing.queued': {
    kind: 'gauge',
    unit: '{password}',
    attributes: [],
    description: 'Passwords that wait for a thread.',
  },
  'latchkey.change_feed.age': {
    kind: 'gauge',
    unit: 's',
    attributes: [],
    description: 'How old the news of revocations is.',
  },
  'latchkey.outbox.waiting': {
    kind: 'gauge',
    unit: '{mail}',
    attributes: [],
    description: 'Mails that wait, in the store.',
  },
  'latchkey.outbox.oldest_age': {
    kind: 'gauge',
    unit: 's',
    attributes: [],
    description: 'For how long the oldest of them has waited.',
  },
  'latchkey.outbox.set_aside': {
    kind: 'gauge',
    unit: '{mail}',
    attributes: [],
    description: 'Mails that were set aside for good, in the store.',
  },
} as const satisfies Readonly<Record<string, Instrument>>

export type InstrumentName = keyof typeof instruments

/** Every span there is. */
export const spans = {
  'latchkey.request': {
    attributes: ['http.request.method', 'http.route', 'http.response.status_code'],
    description: 'A request to an auth route.',
  },
  'latchkey.store': {
    attributes: ['db.operation.name'],
    description: 'One step of the store, such as `sessions.rotate`.',
  },
  'latchkey.mail': { attributes: [], description: 'One attempt to send a mail.' },
} as const

export type SpanName = keyof typeof spans
