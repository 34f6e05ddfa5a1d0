// That `npm run scale` can fail: each of its zeros, counted once by what would have to be counted in a run.
import { expect, test } from 'vitest'
import { createJar } from './jar.js'
import { createMails } from './mails.js'
import { createOracle, zeros } from './oracle.js'
import { createPerson, createSessions } from './person.js'
import { createRevoked, createUsed } from './revoked.js'

const answer = (status: number, code: string | null = null, more: object = {}) => {
  return { status, code, body: null, setCookies: [], instance: 0, sentAt: Date.now(), answeredAt: Date.now(), ...more }
}

/** How often each zero was counted. */
function counted(oracle: ReturnType<typeof createOracle>): Record<string, number> {
  const { faults } = oracle.report()
  return Object.fromEntries(zeros.map((zero) => [zero, faults[zero].length]).filter(([, count]) => count !== 0))
}

test('a 5xx is wrong unless it is a 503 that says why', () => {
  const oracle = createOracle()
  for (const code of ['store_unavailable', 'busy']) oracle.note('login', 'calm', answer(503, code), 1)
  expect(counted(oracle)).toEqual({})
  for (const wrong of [answer(500, 'internal_error'), answer(503), answer(502)]) oracle.note('login', 'calm', wrong, 1)
  expect(counted(oracle)).toEqual({ 'wrong 5xx': 3 })
})

test('no answer is wrong unless the process was dead meanwhile', () => {
  const oracle = createOracle()
  oracle.note('login', 'calm', answer(0, 'ECONNRESET', { instance: 1, sentAt: 50_000, answeredAt: 51_000 }), 1)
  oracle.judgeUnanswered([{ instance: 1, from: 50_500, to: 52_000 }])
  expect(counted(oracle)).toEqual({})
  oracle.judgeUnanswered([
    { instance: 0, from: 50_500, to: 52_000 },
    { instance: 1, from: 60_000, to: 61_000 },
  ])
  expect(counted(oracle)).toEqual({ 'wrong 5xx': 1 })
})

test('each promise wants a mail of its own; the same one twice is told apart', () => {
  const mails = createMails()
  const otp = { to: 'a@example.test', subject: 'Your code to sign in to X', at: 1_000 }
  mails.promise(otp.to, 'otp')
  mails.promise(otp.to, 'otp')
  mails.promise('poison-1@example.test', 'otp')
  mails.take({ ...otp, messageId: 'one' })
  mails.take({ ...otp, messageId: 'one', at: 30_000 })
  expect(mails.missing()).toMatchObject([{ to: otp.to, kind: 'otp' }])
  expect(mails.doubles([])).toMatchObject([{ documented: false }])
  expect(mails.doubles([{ from: 500, to: 2_000 }])).toMatchObject([{ documented: true }])
  mails.take({ ...otp, messageId: 'two' })
  expect(mails.missing()).toEqual([])
})

test('two successes of one token are a double use, and so is one that comes later', async () => {
  const oracle = createOracle()
  const statuses = [200, 400, 0, 200, 200, 503]
  const used = createUsed({ ask: async () => answer(statuses.shift() ?? 200), oracle })
  expect(await used.race('reset', () => ({}))).toMatchObject({ won: { answer: { status: 200 } }, uncertain: true })
  expect(counted(oracle)).toEqual({})
  await used.race('reset', () => ({}))
  expect(counted(oracle)).toEqual({ 'double uses': 1 })
  await used.judge()
  expect(counted(oracle)).toEqual({ 'double uses': 3 })
})

test('an ended credential may be taken by others for a second, by the process that ended it not at all', async () => {
  const oracle = createOracle()
  let status = 200
  const ask = async (_operation: string, { instance }: { instance: number }) => answer(status, null, { instance })
  const revoked = createRevoked({ ask, oracle, instances: [0, 1] })
  revoked.add(() => ({}), 'logout', answer(204))
  await revoked.judge()
  expect(oracle.report().faults['accepted revoked credentials']).toEqual([expect.stringContaining('taken by 0')])
  revoked.add(() => ({}), 'logout', answer(204, null, { answeredAt: Date.now() - 1_001 }))
  status = 503
  await revoked.judge()
  expect(counted(oracle)).toEqual({ 'accepted revoked credentials': 1 })
  status = 200
  await revoked.judge()
  expect(counted(oracle)).toEqual({ 'accepted revoked credentials': 4 })
})

test('who is signed out without a reason is a lost session; who cannot sign in is a lost account', async () => {
  const oracle = createOracle()
  const sessions = createSessions({ ask: async () => answer(401, 'token_revoked'), oracle, revoked: null })
  const ada = { ...createPerson('ada'), signedIn: true, jar: createJar() }
  await sessions.refresh(ada)
  await sessions.refresh(ada)
  expect(counted(oracle)).toEqual({ 'lost sessions': 1 })

  const grace = createPerson('grace')
  await sessions.signIn(grace)
  expect(counted(oracle)).toEqual({ 'lost sessions': 1 })
  await sessions.signIn({ ...grace, verified: true })
  expect(counted(oracle)).toEqual({ 'lost sessions': 1, 'lost accounts': 1 })
})

test('a sign-in after a disabling counts where that was answered, and not where its answer was lost', async () => {
  const oracle = createOracle()
  const more = { body: { user: { id: 'ada' } } }
  const sessions = createSessions({ ask: async () => answer(200, null, more), oracle, revoked: null })
  await sessions.signIn({ ...createPerson('ada'), disabled: true, disabledForSure: false })
  expect(counted(oracle)).toEqual({})
  await sessions.signIn({ ...createPerson('ada'), disabled: true, disabledForSure: true })
  expect(counted(oracle)).toEqual({ 'accepted revoked credentials': 1 })
})
