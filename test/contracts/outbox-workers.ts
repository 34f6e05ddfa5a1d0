import { expect, onTestFinished, test } from 'vitest'
import { createKeyring } from '../../src/lib/keyring.js'
import { createRandom } from '../../src/lib/random.js'
import { createSmtpMailer } from '../../src/mail/nodemailer.js'
import { createMails, createOutboxWorker } from '../../src/mail/outbox.js'
import type { Store } from '../../src/store/store.js'
import { createTestClock } from '../../src/testing/clock.js'
import { startSmtpServer, type TestSmtpServer } from '../support/smtp-server.js'

const mails = 500
const workers = 4
const keyring = createKeyring(['outbox-crowd-key-0123456789abcdefghij'])
const random = createRandom()

/** Many processes on one store. `openStores` opens so many, each as a process of its own would. */
export function outboxWorkersContract(openStores: (count: number) => Promise<Store[]>): void {
  test(`four workers send each of ${mails} mails once`, async () => {
    const scene = await setUp(openStores)
    await Promise.all(scene.workers.map(({ worker }) => worker.kick()))
    const sent = recipients(scene.smtp)
    expect(sent).toHaveLength(mails)
    expect(new Set(sent).size).toBe(mails)
    expect(await scene.depth()).toEqual({ waiting: 0, oldestAt: null, setAside: 0 })
    // Nobody is left out: whoever loses a race for mails takes the next ones.
    for (const { taken } of scene.workers) expect(taken()).toBeGreaterThan(10)
  })

  test('a worker that dies in the middle loses no mail, and repeats only what it had in hand, under the same id', async () => {
    const scene = await setUp(openStores)
    const [dying, ...others] = scene.workers
    dying?.dieAfter(5)
    const running = scene.workers.map(({ worker }) => worker.kick())
    await Promise.all(running.slice(1))
    // Its other three lanes had handed over theirs by then.
    expect(dying?.taken()).toBeLessThanOrEqual(8)
    expect((await scene.depth()).waiting).toBeGreaterThan(0)

    await scene.clock.advance('61s')
    await Promise.all(others.map(({ worker }) => worker.kick()))
    expect(await scene.depth()).toEqual({ waiting: 0, oldestAt: null, setAside: 0 })
    expect(new Set(recipients(scene.smtp)).size).toBe(mails)
    // It had four in hand at most. A mail that came twice has one Message-ID, which is how mail programs tell.
    expect(scene.smtp.mails.length).toBeGreaterThan(mails)
    expect(scene.smtp.mails.length).toBeLessThanOrEqual(mails + 4)
    expect(new Set(scene.smtp.mails.map(({ messageId }) => messageId)).size).toBe(mails)
  })
}

function recipients(smtp: TestSmtpServer): string[] {
  return smtp.mails.flatMap(({ envelope }) => envelope.to)
}

async function setUp(openStores: (count: number) => Promise<Store[]>) {
  const clock = createTestClock()
  const now = () => Math.floor(clock.now() / 1000)
  const stores = await openStores(workers)
  const [first] = stores
  if (!first) throw new Error('no store')
  const smtp = await startSmtpServer()
  onTestFinished(() => smtp.close())
  const { compose } = createMails({ keyring, randomId: random.id, now })
  for (let nth = 0; nth < mails; nth += 1)
    await first.outbox.put(compose('note', `u${nth}@app.example`, { nth: `${nth}` }))
  return {
    clock,
    smtp,
    depth: () => first.outbox.depth(),
    workers: stores.map((store) => createProcess(store, smtp, clock)),
  }
}

/** One process's worker. Dead, it begins nothing more, and nothing that it has begun comes back to it. */
function createProcess({ outbox }: Store, smtp: TestSmtpServer, clock: ReturnType<typeof createTestClock>) {
  const mailer = createSmtpMailer({ from: { name: 'Acme', address: 'hello@acme.example' }, transport: smtp.url })
  let dead = false
  let taken = 0
  let lastMail = Number.POSITIVE_INFINITY
  const never = () => new Promise<never>(() => {})
  async function whileAlive<T>(work: () => Promise<T>): Promise<T> {
    if (dead) return never()
    const result = await work()
    return dead ? never() : result
  }
  const worker = createOutboxWorker({
    outbox: {
      put: (...given) => whileAlive(() => outbox.put(...given)),
      lease: (...given) => whileAlive(() => outbox.lease(...given)),
      sent: (...given) => whileAlive(() => outbox.sent(...given)),
      failed: (...given) => whileAlive(() => outbox.failed(...given)),
    },
    keyring,
    templates: { prepare: async () => {}, mail: (_name, { nth }) => ({ subject: `${nth}`, text: `${nth}`, html: '' }) },
    mailer: {
      send: (mail) =>
        whileAlive(async () => {
          await mailer.send(mail)
          taken += 1
          // The server has the mail, and the store will never hear of it.
          if (taken >= lastMail) dead = true
        }),
    },
    countNotice: async () => 'send',
    now: () => Math.floor(clock.now() / 1000),
    timer: clock.timer,
    random: random.jitter,
    logger: { warn: () => {}, error: () => {} },
  })
  onTestFinished(() => mailer.close())
  return {
    worker,
    taken: () => taken,
    dieAfter(count: number) {
      lastMail = count
    },
  }
}
