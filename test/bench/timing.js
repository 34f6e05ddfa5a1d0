// npm run timing: whether the time of an answer tells who has an account (OWASP ASVS 5.0, 6.3.8). By hand, on an idle
// machine: it takes about ten minutes, and its result is a matter of statistics.
// Method: requests for known and unknown addresses in random order over one connection, 300 each after 30 to warm up.
// A route fails when the medians differ by more than 5 ms or a tenth of a password comparison, whichever is more, and
// the Mann-Whitney U test says p < 0.001, in three runs of three.
import { randomUUID } from 'node:crypto'
import { Agent, request } from 'node:http'
import { median, shuffled, table } from './numbers.js'
import { serve } from './process.js'

const runs = 3
const perSide = 300
const warmUp = 30
const agent = new Agent({ keepAlive: true, maxSockets: 1 })
const password = `difference-engine-${randomUUID()}`

const server = await serve('timing')
const { known } = server.credentials
// Each probe has accounts that no other has changed, so many that none gets as many mails as a day allows: only whether
// there is an account tells the two sides apart. A fourth registration would end the one that waits for another mail.
const third = known.length / 3
const nextRegistering = cycle(known.slice(0, third))
const nextWaiting = cycle(known.slice(third, 2 * third))
const nextUntouched = cycle(known.slice(2 * third))
const unknown = () => `nobody-${randomUUID()}@example.com`

// What register leaves behind for an address that was free, and for one that was taken.
const resendKnown = await transactions(perSide + warmUp, nextWaiting)
const resendUnknown = await transactions(perSide + warmUp, unknown)

const probes = {
  register: [
    () => ['/register', { email: nextRegistering(), password }],
    () => ['/register', { email: unknown(), password }],
  ],
  login: [() => ['/login', { email: nextUntouched(), password }], () => ['/login', { email: unknown(), password }]],
  'login, registered': [
    () => ['/login', { email: resendKnown.next().value.email, password }],
    () => ['/login', { email: resendUnknown.next().value.email, password }],
  ],
  forgot: [() => ['/password/forgot', { email: nextUntouched() }], () => ['/password/forgot', { email: unknown() }]],
  otp: [() => ['/otp', { email: nextUntouched() }], () => ['/otp', { email: unknown() }]],
  resend: [
    () => ['/verify-email/resend', resendKnown.next().value],
    () => ['/verify-email/resend', resendUnknown.next().value],
  ],
}

const comparison = await comparisonMs()
const threshold = Math.max(5, comparison / 10)
console.log(
  `Node ${process.version}; a failed sign-in takes ${comparison.toFixed(0)} ms, threshold ${threshold.toFixed(1)} ms\n`,
)

const rows = [['route', 'known ms', 'unknown ms', 'difference ms', 'p, of each run', 'verdict']]
for (const [route, sides] of Object.entries(probes)) {
  const results = []
  for (let run = 0; run < runs; run += 1) results.push(await compare(sides))
  const failed = results.every(({ difference, p }) => Math.abs(difference) > threshold && p < 0.001)
  const of = (key) => median(results.map((result) => result[key]))
  rows.push([
    route,
    of('known').toFixed(2),
    of('unknown').toFixed(2),
    of('difference').toFixed(2),
    results.map(({ p }) => p.toPrecision(2)).join(', '),
    failed ? 'FAIL' : 'PASS',
  ])
  if (failed) process.exitCode = 1
}
console.log(table(rows))
await server.stop()
agent.destroy()

async function compare(sides) {
  for (let index = 0; index < warmUp; index += 1) for (const side of sides) await time(side())
  const samples = [[], []]
  const order = shuffled([...Array(perSide).fill(0), ...Array(perSide).fill(1)])
  for (const side of order) samples[side].push(await time(sides[side]()))
  const [known, unknown] = samples.map(median)
  return { known, unknown, difference: known - unknown, p: mannWhitney(...samples) }
}

async function comparisonMs() {
  const times = []
  for (let index = 0; index < 20; index += 1) times.push(await time(probes.login[1]()))
  return median(times)
}

async function time([path, body]) {
  const began = performance.now()
  await post(path, body)
  return performance.now() - began
}

function post(path, body) {
  const text = JSON.stringify(body)
  const headers = {
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(text),
    'x-auth-mode': 'token',
  }
  return new Promise((resolve, reject) => {
    const asked = request(`${server.baseUrl}/auth${path}`, { agent, method: 'POST', headers }, (response) => {
      let answer = ''
      response.setEncoding('utf8').on('data', (chunk) => {
        answer += chunk
      })
      response.on('end', () => {
        if ([202, 401, 403].includes(response.statusCode)) resolve(JSON.parse(answer))
        else reject(new Error(`${path}: ${response.statusCode} ${answer}`))
      })
    })
    asked.on('error', reject).end(text)
  })
}

async function transactions(count, address) {
  const bodies = []
  for (let index = 0; index < count; index += 1) {
    const email = address()
    const { transaction } = await post('/register', { email, password })
    bodies.push({ email, transaction })
  }
  return forever(bodies)
}

function* forever(values) {
  for (;;) yield* values
}

function cycle(values) {
  const all = forever(values)
  return () => all.next().value
}

/** Two-sided p of the Mann-Whitney U test by its normal approximation; ties do not matter among times of a µs. */
function mannWhitney(left, right) {
  const ranked = [...left.map((value) => [value, 0]), ...right.map((value) => [value, 1])].sort((a, b) => a[0] - b[0])
  let rankSum = 0
  for (const [index, [, side]] of ranked.entries()) if (side === 0) rankSum += index + 1
  const [n, m] = [left.length, right.length]
  const u = rankSum - (n * (n + 1)) / 2
  const z = Math.abs(u - (n * m) / 2) / Math.sqrt((n * m * (n + m + 1)) / 12)
  return 2 * (1 - normal(z))
}

/** The normal distribution up to z ≥ 0, to 7 digits (Abramowitz and Stegun 26.2.17). */
function normal(z) {
  const t = 1 / (1 + 0.2316419 * z)
  const terms = [0.31938153, -0.356563782, 1.781477937, -1.821255978, 1.330274429]
  const tail = terms.reduceRight((sum, term) => (sum + term) * t, 0)
  return 1 - (Math.exp((-z * z) / 2) / Math.sqrt(2 * Math.PI)) * tail
}
