import { afterEach, describe, expect, test } from 'vitest'
import { createKeyring } from '../../src/lib/keyring.js'
import { createRandom } from '../../src/lib/random.js'
import { type Mail, MailFault } from '../../src/mail/mailer.js'
import { createSmtpMailer } from '../../src/mail/nodemailer.js'
import { createMails, createOutboxWorker, type OutboxWorkerOptions } from '../../src/mail/outbox.js'
import { openSqlStore } from '../../src/store/sql/store.js'
import { createTemplates } from '../../src/templates/handlebars.js'
import { createTestClock } from '../../src/testing/clock.js'
import { testSeal } from '../support/databases.js'
import { startSmtpServer } from '../support/smtp-server.js'

const keyring = createKeyring(['outbox-test-key-0123456789abcdefghij'])
const random = createRandom()
const templates = createTemplates({
  templates: null,
  brand: { name: 'Acme', logoUrl: null, accentColor: null },
  labels: {},
  locale: 'en',
  origin: 'https://app.example',
  urlPath: '',
  basePath: '/auth',
})
const link = 'https://app.example/auth/verify-email?token=Secret-token_of-43-characters-0123456789abc'
const values = { name: 'Ada', url: link, code: '048213' }

const opened: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const close of opened.splice(0).reverse()) await close()
})

/** A store, a clock that stands still, and workers on them. */
async function setUp() {
  const clock = createTestClock()
  const store = await openSqlStore({
    database: { kind: 'sqlite', file: ':memory:' },
    now: clock.now,
    randomId: random.id,
    sleep: (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds)),
    random: random.jitter,
    seal: testSeal(),
    onChange: () => {},
    onMail: () => {},
  })
  opened.push(store.close)
  const now = () => Math.floor(clock.now() / 1000)
  const mails = createMails({ keyring, randomId: random.id, now })
  const logged: Record<string, unknown>[] = []
  const log = (fields: Readonly<Record<string, unknown>>) => logged.push(fields)

  function worker(over: Partial<OutboxWorkerOptions> = {}) {
    const made = createOutboxWorker({
      outbox: store.outbox,
      keyring,
      templates,
      mailer: { send: async () => {} },
      brandValues: { lifetimeHours: '24' },
      countNotice: async () => 'send',
      now,
      timer: clock.timer,
      random: random.jitter,
      logger: { warn: log, error: log },
      ...over,
    })
    opened.push(made.close)
    return made
  }

  async function put(count: number, template = 'verify') {
    const rows = Array.from({ length: count }, (_, index) => mails.compose(template, `u${index}@app.example`, values))
    for (const row of rows) await store.outbox.put(row)
    return rows
  }

  return { clock, store, worker, put, logged, now }
}

/** A mailer that notes whom it mailed and fails as told. */
function notingMailer(fail: (mail: Mail) => Error | null = () => null) {
  const sent: Mail[] = []
  return {
    sent,
    async send(mail: Mail) {
      const error = fail(mail)
      if (error) throw error
      sent.push(mail)
    },
  }
}

async function smtp(...options: Parameters<typeof startSmtpServer>) {
  const server = await startSmtpServer(...options)
  opened.push(server.close)
  const mailer = createSmtpMailer({ from: { name: 'Acme', address: 'hello@acme.example' }, transport: server.url })
  opened.push(mailer.close)
  return { server, mailer }
}

describe('a row of the outbox', () => {
  test('ATK-046 keeps link, code and name sealed, and only for itself', async () => {
    const { put, worker, store } = await setUp()
    const [one, other] = await put(2)
    if (!one || !other) throw new Error('no rows')
    expect(JSON.stringify(one)).not.toMatch(/Secret-token|048213|Ada/)
    expect(Buffer.from(one.sealedValues.split('.')[1] ?? '', 'base64url').toString('latin1')).not.toContain('048213')

    await store.outbox.put({ ...one, id: 'moved', recipient: 'thief@evil.test' })
    const mailer = notingMailer()
    await worker({ mailer }).kick()
    expect(mailer.sent.map(({ to }) => to)).toEqual(['u0@app.example', 'u1@app.example'])
    expect(await store.outbox.depth()).toMatchObject({ waiting: 1, setAside: 0 })
  })

  test('becomes a mail whose link and code a client can use', async () => {
    const { put, worker, store } = await setUp()
    const { server, mailer } = await smtp()
    const [row] = await put(1)
    await worker({ mailer }).kick()

    const [arrived] = server.mails
    expect(arrived?.envelope.to).toEqual(['u0@app.example'])
    expect(arrived?.messageId).toBe(`<${row?.id}@acme.example>`)
    expect(arrived?.text?.match(/https?:\/\/\S+/)?.[0]).toBe(link)
    expect(arrived?.text?.replace(link, '').match(/\d{6,8}/g)).toEqual(['048213'])
    expect(arrived?.text).toContain('24 hours')
    expect(arrived?.html).toContain('048213')
    expect(await store.outbox.depth()).toEqual({ waiting: 0, oldestAt: null, setAside: 0 })
  })
})

describe('the worker', () => {
  test('looks by itself every few seconds once it was started', async () => {
    const { put, worker, clock } = await setUp()
    const mailer = notingMailer()
    const made = worker({ mailer })
    made.start()
    await made.kick()
    await put(1)
    await clock.advance('10s')
    await expect.poll(() => mailer.sent.length).toBe(1)
  })

  test('sends everything that is due, a few at a time', async () => {
    const { put, worker } = await setUp()
    const { server, mailer } = await smtp()
    await put(35)
    await worker({ mailer }).kick()
    expect(server.mails).toHaveLength(35)
    expect(server.connections().most).toBeLessThanOrEqual(4)
  })

  test('two on one store send each mail once', async () => {
    const { put, worker } = await setUp()
    const mailers = [notingMailer(), notingMailer()]
    await put(60)
    await Promise.all(mailers.map((mailer) => worker({ mailer }).kick()))
    const sent = mailers.flatMap((mailer) => mailer.sent.map(({ to }) => to))
    expect(sent).toHaveLength(60)
    expect(new Set(sent).size).toBe(60)
  })

  test('an SMTP server that is down for an hour loses nothing and doubles nothing', async () => {
    const { put, worker, clock, store } = await setUp()
    const { server, mailer } = await smtp()
    await server.close()
    const made = worker({ mailer })
    made.start()
    await put(12)
    for (let minute = 0; minute < 60; minute += 1) {
      await clock.advance('1m')
      await made.kick()
    }
    expect((await store.outbox.depth()).waiting).toBe(12)

    const again = await startSmtpServer({ port: server.port })
    opened.push(again.close)
    for (let minute = 0; minute < 60; minute += 1) {
      await clock.advance('1m')
      await made.kick()
    }
    expect(again.mails.flatMap(({ envelope }) => envelope.to).sort()).toEqual(
      Array.from({ length: 12 }, (_, index) => `u${index}@app.example`).sort(),
    )
    expect(await store.outbox.depth()).toMatchObject({ waiting: 0, setAside: 0 })
  })

  test('waits longer after each failure, from five seconds to an hour', async () => {
    for (const jitter of [0, 0.999]) {
      const { put, worker, clock, store, now } = await setUp()
      const pauses: number[] = []
      const made = worker({
        random: () => jitter,
        mailer: notingMailer(() => new MailFault('connection_failed', false)),
        outbox: {
          ...store.outbox,
          failed: (lease, reason, nextAttemptAt) => {
            pauses.push((nextAttemptAt ?? Number.NaN) - now())
            return store.outbox.failed(lease, reason, nextAttemptAt)
          },
        },
      })
      await put(1)
      for (let attempt = 0; attempt < 14; attempt += 1) {
        await made.kick()
        await clock.set(clock.now() + (pauses.at(-1) ?? 0) * 1000)
      }
      const full = [5, 10, 20, 40, 80, 160, 320, 640, 1280, 2560, 3600, 3600, 3600, 3600]
      expect(pauses).toEqual(
        full.map((seconds) => Math.max(5, Math.round(seconds * (jitter === 0 ? 1 : 1 - 0.999 / 4)))),
      )
    }
  })

  test('a mail that nobody takes for three days is set aside with the last reason', async () => {
    const { put, worker, clock, store, logged } = await setUp()
    const made = worker({ mailer: notingMailer(() => new MailFault('connection_failed', false)) })
    await put(1)
    await made.kick()
    await clock.set(clock.now() + 3 * 24 * 3_600_000 - 1000)
    await made.kick()
    expect(await store.outbox.depth()).toMatchObject({ waiting: 1, setAside: 0 })
    await clock.set(clock.now() + 3_600_000)
    await made.kick()
    expect(await store.outbox.depth()).toMatchObject({ waiting: 0, setAside: 1 })
    expect(logged.at(-1)).toMatchObject({ event: 'mail_set_aside', reason: 'connection_failed', attempts: 3 })
  })

  test('a mail that the server refuses for good is set aside at once, and the others go on', async () => {
    const { put, worker, clock, store, logged } = await setUp()
    const refuseRecipient = (to: string) => (to.startsWith('u1@') ? '550 5.1.1 no u1@app.example 048213' : null)
    const { server, mailer } = await smtp({ refuseRecipient })
    const made = worker({ mailer })
    await put(3)
    await made.kick()
    expect(server.mails.flatMap(({ envelope }) => envelope.to).sort()).toEqual(['u0@app.example', 'u2@app.example'])
    expect(await store.outbox.depth()).toMatchObject({ waiting: 0, setAside: 1 })
    expect(logged).toEqual([expect.objectContaining({ event: 'mail_set_aside', reason: 'recipient_refused' })])

    await clock.set(clock.now() + 24 * 3_600_000)
    await made.kick()
    expect(server.mails).toHaveLength(2)
  })

  test.each([
    ['values_unreadable', { keyring: createKeyring(['another-key-0123456789abcdefghijklmn']) }, 'verify'],
    ['template_failed', {}, 'no-such-mail'],
    ['template_failed', {}, 'account-exists/../verify'],
  ])(
    'a mail with %s waits for a newer process, and is set aside unsent after three days',
    async (reason, over, template) => {
      const { put, worker, store, clock, logged } = await setUp()
      const mailer = notingMailer()
      await put(1, template)
      const made = worker({ mailer, ...over })
      await made.kick()
      expect(await store.outbox.depth()).toMatchObject({ waiting: 1, setAside: 0 })
      await clock.set(clock.now() + 3 * 24 * 3_600_000)
      await made.kick()
      expect(mailer.sent).toEqual([])
      expect(await store.outbox.depth()).toMatchObject({ waiting: 0, setAside: 1 })
      expect(logged.at(-1)).toMatchObject({ event: 'mail_set_aside', reason })
    },
  )

  test('ATK-042 nothing it logs holds an address, a link, a code or what the server said', async () => {
    const { put, worker, logged } = await setUp()
    const { mailer } = await smtp({ refuseRecipient: (to) => `451 4.3.0 ${to} ${link} 048213` })
    await put(2)
    await worker({ mailer }).kick()
    expect(logged).toHaveLength(2)
    expect(JSON.stringify(logged)).not.toMatch(/@|Secret-token|048213/)
  })
})

describe('when things break', () => {
  test('a process that dies before the store knows of a delivery makes one more at most, under the same id', async () => {
    const { put, worker, clock, store } = await setUp()
    const { server, mailer } = await smtp()
    await put(1)
    const dead = worker({ mailer, outbox: { ...store.outbox, sent: () => new Promise(() => {}) } })
    dead.kick()
    await expect.poll(() => server.mails.length).toBe(1)
    opened.splice(opened.indexOf(dead.close), 1)

    const next = worker({ mailer })
    await clock.advance('59s')
    await next.kick()
    expect(server.mails).toHaveLength(1)
    await clock.advance('2s')
    await next.kick()
    await clock.advance('1h')
    await next.kick()
    expect(server.mails).toHaveLength(2)
    expect(server.mails[1]?.messageId).toBe(server.mails[0]?.messageId)
  })

  test('a store that is gone when a delivery is to be noted costs no second one', async () => {
    const { put, worker, clock, store, logged } = await setUp()
    const mailer = notingMailer()
    let down = true
    const made = worker({
      mailer,
      outbox: {
        ...store.outbox,
        sent: (lease) => (down ? Promise.reject(new Error('down')) : store.outbox.sent(lease)),
      },
    })
    await put(3)
    await made.kick()
    down = false
    await clock.advance('61s')
    await made.kick()
    expect(mailer.sent).toHaveLength(3)
    expect((await store.outbox.depth()).waiting).toBe(0)
    expect(logged).toEqual([{ event: 'outbox_unavailable' }])
  })

  test('a store that is down is waited for, and said once', async () => {
    const { put, worker, clock, store, logged } = await setUp()
    const mailer = notingMailer()
    let down = true
    const made = worker({
      mailer,
      outbox: {
        ...store.outbox,
        lease: (...given) => (down ? Promise.reject(new Error('down')) : store.outbox.lease(...given)),
      },
    })
    made.start()
    await put(1)
    await clock.advance('1m')
    expect(mailer.sent).toEqual([])
    down = false
    await clock.advance('10s')
    await expect.poll(() => mailer.sent.length).toBe(1)
    expect(logged).toEqual([{ event: 'outbox_unavailable' }])
  })

  test('a delivery that hangs delays no other, is given up in time and tried again later', async () => {
    const { put, worker, clock, store, logged } = await setUp()
    const tried: string[] = []
    const sent: string[] = []
    const made = worker({
      deliveryMilliseconds: 4_000,
      mailer: {
        async send({ to }) {
          tried.push(to)
          if (to === 'u3@app.example') await new Promise(() => {})
          sent.push(to)
        },
      },
    })
    made.start()
    await put(50)
    await clock.advance('5s')
    await expect.poll(() => sent.length).toBe(49)
    await put(50)
    await clock.advance('5s')
    // The second batch has a mail to the same address: two lanes of four are held up.
    await expect.poll(() => sent.length).toBe(98)
    expect(logged).toEqual([])
    await expect.poll(() => logged.length).toBe(2)
    expect(logged[0]).toMatchObject({ event: 'mail_failed', reason: 'timed_out', attempts: 1 })
    await clock.advance('10s')
    await expect.poll(() => tried.filter((to) => to === 'u3@app.example').length).toBe(4)
    expect(await store.outbox.depth()).toMatchObject({ waiting: 2, setAside: 0 })
  })

  test('a delivery that was given up and succeeds after all is not made again by this process', async () => {
    const { put, worker, clock, store } = await setUp()
    const sends: (() => void)[] = []
    const mailer = { send: () => new Promise<void>((resolve) => sends.push(resolve)) }
    const made = worker({ mailer, deliveryMilliseconds: 50 })
    await put(1)
    await made.kick()
    expect(await store.outbox.depth()).toMatchObject({ waiting: 1 })
    sends[0]?.()
    await clock.advance('10s')
    await made.kick()
    expect(sends).toHaveLength(1)
    expect(await store.outbox.depth()).toMatchObject({ waiting: 0, setAside: 0 })
  })

  test('a server that takes nothing is asked about ten mails every five seconds; one that refuses some about all', async () => {
    const { put, worker, clock } = await setUp()
    let tried = 0
    const down = worker({
      mailer: notingMailer(() => {
        tried += 1
        return new MailFault('connection_failed', false)
      }),
    })
    await put(60)
    await down.kick()
    expect(tried).toBeLessThan(15)
    await down.kick()
    expect(tried).toBeLessThan(15)
    await clock.advance('5s')
    await down.kick()
    expect(tried).toBeGreaterThan(15)
    await down.close()

    await clock.advance('1h')
    const mailer = notingMailer(({ to }) =>
      /u[0-4]?[0-9]@/.test(to) ? new MailFault('recipient_refused', true) : null,
    )
    await worker({ mailer }).kick()
    expect(mailer.sent).toHaveLength(10)
  })

  test('a mail that comes while the worker finds nothing more is sent at once', async () => {
    const { put, worker, store } = await setUp()
    const mailer = notingMailer()
    let late = async () => {}
    const made = worker({
      mailer,
      outbox: {
        ...store.outbox,
        async lease(...given) {
          const leased = await store.outbox.lease(...given)
          if (leased.length === 0) await late()
          return leased
        },
      },
    })
    late = async () => {
      late = async () => {}
      await put(1)
      void made.kick()
    }
    await made.kick()
    expect(mailer.sent).toHaveLength(1)
  })

  test('a logger that throws and a transport that throws nonsense stop nothing', async () => {
    const { put, worker, store } = await setUp()
    const fail = () => {
      throw new Error('logger')
    }
    const made = worker({
      logger: { warn: fail, error: fail },
      mailer: notingMailer(({ to }) => (to.startsWith('u0@') ? new TypeError('nonsense') : null)),
    })
    await put(2)
    await expect(made.kick()).resolves.toBeUndefined()
    expect(await store.outbox.depth()).toMatchObject({ waiting: 1, setAside: 0 })
  })
})

describe('close()', () => {
  test('sends what is due and nothing after that', async () => {
    const { put, worker, clock } = await setUp()
    const mailer = notingMailer()
    const made = worker({ mailer })
    made.start()
    await put(25)
    await Promise.all([made.close(), made.close()])
    expect(mailer.sent).toHaveLength(25)

    await put(1)
    await made.kick()
    await clock.advance('1h')
    expect(mailer.sent).toHaveLength(25)
  })

  test('waits thirty seconds at most for a server that never answers, and begins nothing new after ten', async () => {
    const { put, worker, clock } = await setUp()
    const begun: string[] = []
    const made = worker({
      mailer: {
        send(mail) {
          begun.push(mail.to)
          return new Promise(() => {})
        },
      },
    })
    await put(25)
    let closed = false
    const closing = made.close().then(() => {
      closed = true
    })
    await clock.advance('9s')
    expect(closed).toBe(false)
    await clock.advance('22s')
    await closing
    expect(begun).toHaveLength(4)
  })

  test('waits for a slow server to take what it was given, so that the next process does not send it again', async () => {
    const { put, worker, clock, store } = await setUp()
    const taken: string[] = []
    let take = () => {}
    const slow = worker({
      mailer: {
        send: (mail) =>
          new Promise((resolve) => {
            take = () => {
              taken.push(mail.to)
              resolve()
            }
          }),
      },
    })
    await put(1)
    const closing = slow.close().then(() => store.outbox.depth())
    await clock.advance('14s')
    take()
    expect(await closing).toMatchObject({ waiting: 0 })
    expect(taken).toHaveLength(1)
  })

  test('gives up no mail: what was not sent goes out from the next process', async () => {
    const { put, worker, clock } = await setUp()
    const stuck = worker({ mailer: { send: () => new Promise(() => {}) } })
    await put(3)
    const closing = stuck.close()
    await clock.advance('10s')
    await clock.advance('20s')
    await closing

    const mailer = notingMailer()
    await clock.advance('51s')
    await worker({ mailer }).kick()
    expect(mailer.sent).toHaveLength(3)
  })
})
