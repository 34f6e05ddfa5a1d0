import { expect, onTestFinished, test } from 'vitest'
import { createKeyring } from '../../src/lib/keyring.js'
import { createRandom } from '../../src/lib/random.js'
import { type Mail, MailFault } from '../../src/mail/mailer.js'
import { createMails, createOutboxWorker, type OutboxWorkerOptions } from '../../src/mail/outbox.js'
import { openSqlStore } from '../../src/store/sql/store.js'
import { createTestClock } from '../../src/testing/clock.js'
import { testSeal } from '../support/databases.js'

const keyring = createKeyring(['outbox-test-key-0123456789abcdefghij'])
const random = createRandom()
const sumUp = { sumUpUntil: 1_767_229_200 }

/** A notice in a store, and a worker whose mails are noted. */
async function setUp(countNotice: OutboxWorkerOptions['countNotice'], fail: () => boolean = () => false) {
  const clock = createTestClock()
  const now = () => Math.floor(clock.now() / 1000)
  const store = await openSqlStore({
    database: { kind: 'sqlite', file: ':memory:' },
    now: clock.now,
    randomId: random.id,
    sleep: async () => {},
    random: random.jitter,
    seal: testSeal(),
    onChange: () => {},
    onMail: () => {},
  })
  onTestFinished(store.close)
  const sent: Mail[] = []
  const outcomes: string[] = []
  const worker = createOutboxWorker({
    outbox: store.outbox,
    keyring,
    templates: { prepare: async () => {}, mail: (name) => ({ subject: name, text: '', html: '' }) },
    mailer: {
      async send(mail) {
        if (fail()) throw new MailFault('away', false)
        sent.push(mail)
      },
    },
    countNotice,
    reported: (template, delivered) => outcomes.push(`${template} ${delivered}`),
    now,
    timer: clock.timer,
    random: random.jitter,
    logger: { warn: () => {}, error: () => {} },
  })
  onTestFinished(worker.close)
  const mails = createMails({ keyring, randomId: random.id, now })
  const values = { device: '', at: '2026-01-01T00:00:00.000Z' }
  await store.outbox.put(mails.compose('new-device', 'ada@example.test', { ...values, noticeKind: 'new-device' }))
  const subjects = () => sent.map(({ subject }) => subject)
  return { clock, store, worker, mails, values, subjects, outcomes }
}

test('a notice that cannot be counted is sent', async () => {
  const { worker, subjects } = await setUp(() => Promise.reject(new Error('the counters are away')))
  await worker.kick()
  expect(subjects()).toEqual(['new-device'])
})

test('a notice whose summary cannot be written is sent', async () => {
  const { worker, store, subjects } = await setUp(async () => {
    store.outbox.put = () => Promise.reject(new Error('the store is away'))
    return sumUp
  })
  await worker.kick()
  expect(subjects()).toEqual(['new-device'])
})

test('a mail that sums up survives a mail server that is away', async () => {
  let away = true
  const scene = await setUp(
    async () => sumUp,
    () => away,
  )
  await scene.worker.kick()
  expect(scene.outcomes).toEqual(['new-device summed_up', 'more-notices failed'])
  away = false
  await scene.clock.advance('10s')
  await scene.worker.kick()
  expect(scene.subjects()).toEqual(['more-notices'])
})

test('a dropped notice leaves the outbox, and a mail that is no notice is never counted', async () => {
  const { worker, store, mails, values, subjects } = await setUp(async () => 'drop')
  await store.outbox.put(mails.compose('email-changed', 'ada@example.test', values))
  await worker.kick()
  expect(subjects()).toEqual(['email-changed'])
  expect(await store.outbox.depth()).toMatchObject({ waiting: 0, setAside: 0 })
})
