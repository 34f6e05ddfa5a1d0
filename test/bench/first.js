// What the first sight of a session token costs, beside the shortest check that anybody would write by hand: HMAC, comparison
// in constant time, JSON, expiry. In one process, without HTTP; batches of fresh tokens in turn, medians.
import { createHmac, createSecretKey, randomBytes, timingSafeEqual } from 'node:crypto'
import { RotationProofs } from '../../.build/guard/rotation-proofs.js'
import { checkBearer, checkCookie, recallSession } from '../../.build/guard/session.js'
import { realMonotonic } from '../../.build/lib/runtime.js'
import { createSharedClock } from '../../.build/lib/shared-clock.js'
import { createTokens } from '../../.build/tokens/jwt.js'
import { createVerifiedCache } from '../../.build/tokens/verified-cache.js'
import { median, shuffled, timings } from './numbers.js'
import { signedLike } from './session-tokens.js'

const batch = 2_000
const secret = randomBytes(48).toString('base64url')
const key = createSecretKey(Buffer.from(secret))
const now = () => Math.floor(Date.now() / 1000)

export async function benchFirst({ rounds = 41 } = {}) {
  const checks = {
    'by hand': byHand,
    'latchkey, bearer': createCheck(byHeader),
    'latchkey, cookie': createCheck(checkCookie),
  }
  const tokens = createOwnTokens()
  await tokens.prepareSigning()
  const sign = signedLike(tokens.signAccess(exampleClaims()), secret)
  const samples = Object.fromEntries(Object.keys(checks).map((name) => [name, []]))
  const ratios = { 'latchkey, bearer': [], 'latchkey, cookie': [] }
  for (let round = -10; round < rounds; round += 1) {
    const times = {}
    for (const name of shuffled(Object.keys(checks))) times[name] = time(checks[name], sign)
    await new Promise((resolve) => setImmediate(resolve))
    if (round < 0) continue
    for (const [name, value] of Object.entries(times)) samples[name].push(value)
    for (const [name, values] of Object.entries(ratios)) values.push(times[name] / times['by hand'])
  }
  const results = Object.entries(ratios).map(([name, values]) => {
    const ratio = median(values)
    return { name: `first sight / by hand, ${name}`, value: ratio.toFixed(2), target: '≤ 1.60', pass: ratio <= 1.6 }
  })
  return { table: timings('first sight of a session token', samples), results }
}

/** Microseconds a token. */
function time(check, sign) {
  const tokens = Array.from({ length: batch }, sign)
  const began = performance.now()
  for (const token of tokens) check(token)
  return ((performance.now() - began) * 1000) / batch
}

/** As the guard has it: verify, remember, note the proof, ask expiry and revocation. Nothing is revoked, nothing is written. */
function createCheck(check) {
  const clock = createSharedClock({ now: Date.now, monotonic: realMonotonic, testing: false })
  const ports = {
    settings: { accessTokenSeconds: 900, twoFactor: { required: false }, admin: { emails: [] } },
    tokens: createOwnTokens(),
    verified: createVerifiedCache(),
    revocations: { isEnded: () => false, deadBelow: () => 0 },
    proofs: new RotationProofs({ sessions: { prove: async () => {} }, clock, timer }),
    demandsFactor: true,
  }
  return (token) => check(ports, token, clock.moment())
}

/** Looked up by its header, for which the token itself stands here: nothing is cut or put together. */
function byHeader(ports, token, at) {
  return recallSession(ports, token, at) ?? checkBearer(ports, token, token, at)
}

function timer(milliseconds, callback) {
  const timeout = setTimeout(callback, milliseconds).unref()
  return () => clearTimeout(timeout)
}

function byHand(token) {
  const end = token.lastIndexOf('.')
  const given = Buffer.from(token.slice(end + 1), 'base64url')
  const expected = createHmac('sha256', key).update(token.slice(0, end)).digest()
  if (given.length !== expected.length || !timingSafeEqual(given, expected)) throw new Error('forged')
  const claims = JSON.parse(Buffer.from(token.slice(token.indexOf('.') + 1, end), 'base64url').toString())
  if (claims.exp <= now()) throw new Error('expired')
  return claims
}

function createOwnTokens() {
  const secrets = { accessSecrets: [secret], refreshSecrets: [secret] }
  return createTokens({ ...secrets, issuer: 'http://localhost:3000', audience: 'bench' })
}

function exampleClaims() {
  const iat = now()
  const user = { sub: 'aWQtb2YtdGhlLXVzZXI', sid: 'aWQtb2YtdGhlLXNlc3Npb24', email: 'ada@example.com', roles: ['USER'] }
  return { ...user, ctr: 0, ver: 1, email_verified: true, amr: ['pwd'], auth_time: iat, iat, exp: iat + 900 }
}
