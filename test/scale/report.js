// The tables at the end.
import { percentile, table } from '../bench/numbers.js'
import { zeros } from './oracle.js'

const shownFaults = 12
const columns = ['guarded', 'refresh', 'login', 'register', 'reset', 'otp verify']

/** Prints everything; returns how much of what must be nothing was something. */
export function print({ faults, samples, odd, mails, accounts, revoked }, { logged, crashes, minutes }) {
  for (const { instance, code } of crashes) faults['wrong 5xx'].push(`process ${instance} ended by itself (${code})`)
  console.log(table(byOperation(samples)), '\n')
  console.log(table(byPhase(samples)), '\n')
  for (const [what, count] of [...logged].sort()) console.log(`logged ${count} ×  ${what}`)
  for (const [what, count] of odd.sort()) console.log(`seen   ${count} ×  ${what}`)
  console.log(
    `\n${samples.length} requests in ${minutes.toFixed(1)} min, ${accounts} accounts, ${mails.promised} mails promised, ` +
      `${mails.arrived} arrived, ${revoked} credentials ended\n`,
  )
  for (const zero of zeros) {
    for (const what of faults[zero].slice(0, shownFaults)) console.log(`${zero}: ${what}`)
    if (faults[zero].length > shownFaults) console.log(`${zero}: and ${faults[zero].length - shownFaults} more`)
  }
  console.log(table([['must be 0', 'counted'], ...zeros.map((zero) => [zero, faults[zero].length])]))
  return zeros.reduce((sum, zero) => sum + faults[zero].length, 0)
}

function byOperation(samples) {
  const rows = [['operation', 'requests', 'done', 'refused', '503', 'no answer', 'p50 ms', 'p99 ms']]
  for (const [operation, own] of grouped(samples, 'operation')) {
    const count = (test) => own.filter(({ status }) => test(status)).length
    const done = count((status) => status > 0 && status < 400)
    const refused = count((status) => status >= 400 && status < 500)
    const counts = [own.length, done, refused, count((status) => status === 503), count((status) => status === 0)]
    rows.push([operation, ...counts, ...percentiles(own)])
  }
  return rows
}

function byPhase(samples) {
  const rows = [['phase; p50 / p99 ms', 'requests', '503', 'no answer', ...columns]]
  for (const [phase, own] of grouped(samples, 'phase')) {
    const count = (status) => own.filter((sample) => sample.status === status).length
    const cells = columns.map((operation) => percentiles(own.filter((one) => one.operation === operation)).join(' / '))
    rows.push([phase, own.length, count(503), count(0), ...cells])
  }
  return rows
}

/** Of what was answered with something else than that it cannot be answered now. */
function percentiles(samples) {
  const times = samples.filter(({ status }) => status > 0 && status < 500).map(({ milliseconds }) => milliseconds)
  return times.length === 0 ? ['-', '-'] : [0.5, 0.99].map((share) => percentile(times, share).toFixed(1))
}

function grouped(samples, key) {
  const groups = new Map()
  for (const sample of samples) {
    const group = groups.get(sample[key])
    if (group) group.push(sample)
    else groups.set(sample[key], [sample])
  }
  return groups
}
