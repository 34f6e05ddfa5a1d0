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
    description: 'How long requests to auth routes take.',
  },
  'latchkey.refusals': {
    kind: 'counter',
    unit: '{request}',
    attributes: ['error.type'],
    description: 'Refused requests to auth routes, by error code.',
  },
  'latchkey.guard.decisions': {
    kind: 'observed counter',
    unit: '{request}',
    attributes: ['latchkey.principal.kind', 'error.type'],
    description: 'Decisions of the guard: the kind of principal that passed, or the error code of the refusal.',
  },
  'latchkey.audit.events': {
    kind: 'counter',
    unit: '{event}',
    attributes: ['latchkey.event', 'latchkey.outcome'],
    description: 'Audit events that this process recorded. Sign-ins are `login`.',
  },
  'latchkey.mails': {
    kind: 'counter',
    unit: '{mail}',
    attributes: ['latchkey.mail.template', 'latchkey.outcome', 'error.type'],
    description:
      'Attempts to send a mail: `sent`, `failed` for now, or `refused` for good, with the reason. `summed_up`: a notice that another mail stands for.',
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
    description: 'Age of the revocation data.',
  },
  'latchkey.outbox.waiting': {
    kind: 'gauge',
    unit: '{mail}',
    attributes: [],
    description: 'Mails that wait in the store.',
  },
  'latchkey.outbox.oldest_age': {
    kind: 'gauge',
    unit: 's',
    attributes: [],
    description: 'How long the oldest mail has waited.',
  },
  'latchkey.outbox.set_aside': {
    kind: 'gauge',
    unit: '{mail}',
    attributes: [],
    description: 'Mails in the store that were given up for good.',
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
