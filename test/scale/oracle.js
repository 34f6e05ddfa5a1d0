// What must hold, whatever is killed: notes what was promised and seen, and says what was broken.

/** The zeros of the report, in its order. */
export const zeros = [
  'lost accounts',
  'lost mails',
  'double uses',
  'accepted revoked credentials',
  'wrong 5xx',
  'lost sessions',
  'mails doubled without reason',
]

/** The refusals that tell of a fault outside: anything else from 500 on is ours. */
const documented = new Set(['store_unavailable', 'busy'])
/** A process that was killed takes requests with it a little before and after we know of it. */
const aroundMs = 1_000

export function createOracle() {
  const faults = Object.fromEntries(zeros.map((zero) => [zero, []]))
  const samples = []
  const unanswered = []
  const odd = new Map()
  let phase = 'start'

  /** Something that must never happen has happened. */
  function broken(zero, what) {
    faults[zero].push(`[${phase}] ${what}`)
  }

  return {
    broken,
    /** Allowed, and yet worth a look: counted and shown. */
    odd: (what) => void odd.set(what, (odd.get(what) ?? 0) + 1),
    phase: () => phase,
    enter(name) {
      phase = name
    },

    /** Every answer comes by here. */
    note(operation, phase, { status, code, instance, sentAt, answeredAt }, milliseconds) {
      samples.push({ operation, phase, status, code, milliseconds })
      if (status >= 500 && !(status === 503 && documented.has(code)))
        broken('wrong 5xx', `${operation}: ${status} ${code}`)
      if (status === 0) unanswered.push({ operation, code, instance, sentAt, answeredAt })
    },

    /** Whoever gave no answer must have been dead meanwhile: `outages` are `{ instance, from, to }`. */
    judgeUnanswered(outages) {
      for (const { operation, code, instance, sentAt, answeredAt } of unanswered) {
        const wasAway = outages.some(
          (outage) =>
            outage.instance === instance && sentAt < outage.to + aroundMs && answeredAt > outage.from - aroundMs,
        )
        if (!wasAway) broken('wrong 5xx', `${operation}: no answer from a living process (${code})`)
      }
    },

    report: () => ({ faults, samples, odd: [...odd] }),
  }
}
