import type { Keyring } from '../lib/keyring.js'
import type { World } from '../lib/runtime.js'
import type { OutboxMail } from '../model/outbox-mail.js'
import type { Logger } from '../settings.js'
import { createConcurrency } from './concurrency.js'
import { createDelivery, type DeliveryOptions } from './delivery.js'
import { mailLog, type OutboxRows, patient } from './outbox-rows.js'
import { sealValues } from './sealed-values.js'

export interface MailsOptions {
  keyring: Pick<Keyring, 'seal'>
  /** 16 random bytes, base64url. */
  randomId(): string
  /** Unix seconds. */
  now(): number
}

/** Makes outbox rows: the flow that makes a mail due hands its row to the store in the same step. */
export function createMails({ keyring, randomId, now }: MailsOptions) {
  return {
    /** `to` is a canonical address; `values` are what `templates/mail/<template>` needs. */
    compose(template: string, to: string, values: Readonly<Record<string, string>>): OutboxMail {
      const id = randomId()
      return { id, recipient: to, template, sealedValues: sealValues(keyring, id, values), createdAt: now() }
    },
  }
}

/** Sends what waits in the outbox. Nothing in it ever throws or rejects: mail must not end a process. */
export interface OutboxWorker {
  /** Something may be due: sends it now. Resolves when there is nothing left to do for the moment. */
  kick(): Promise<void>
  /** Looks by itself from now on, every few seconds: for mails of other processes and for those that failed. */
  start(): void
  /** Sends what is due, for ten seconds at most, then waits up to twenty for what has been begun, and stops. */
  close(): Promise<void>
}

export interface OutboxWorkerOptions
  extends Pick<
    DeliveryOptions,
    'keyring' | 'templates' | 'mailer' | 'now' | 'random' | 'deliveryMilliseconds' | 'reported'
  > {
  outbox: OutboxRows
  /** Values that every mail is given, such as `lifetimeHours`; those of the mail win. */
  brandValues?: Readonly<Record<string, string>>
  timer: World['timer']
  logger: Logger
  /** How long a mail is tried. Default: three days. */
  setAsideAfterSeconds?: number
}

const pollMilliseconds = 5_000
const drainMilliseconds = 10_000
/** As long as a delivery of ours may take: one that the server took, but the store was not told of, would be sent again. */
const lastDeliveriesMilliseconds = 20_000
const threeDaysSeconds = 3 * 24 * 3_600

/**
 * One worker a process. A mail goes out once, unless a process dies between the server's acceptance and the store's
 * confirmation: then it goes out again when its lease ends, under the same Message-ID. The other order would lose it.
 *
 * @example const worker = createOutboxWorker({ outbox: store.outbox, keyring, templates, mailer, … }); worker.start()
 */
export function createOutboxWorker({ outbox, logger, ...options }: OutboxWorkerOptions): OutboxWorker {
  const log = mailLog(logger)
  const rows = patient(outbox, log)
  const { timer, brandValues = {}, setAsideAfterSeconds = threeDaysSeconds } = options
  const deliver = createDelivery({ ...options, rows, log, brandValues, setAsideAfterSeconds })
  const concurrency = createConcurrency({ rows, deliver, now: options.now })
  let closing: Promise<void> | null = null
  let cancelPoll = () => {}

  /** On time, whatever the lanes are waiting for. */
  function lookAgain(): void {
    cancelPoll = timer(pollMilliseconds, lookAgain)
    void concurrency.run()
  }

  return {
    kick: () => closing ?? concurrency.run(),
    start: lookAgain,
    close() {
      cancelPoll()
      closing ??= within(timer, drainMilliseconds, concurrency.run()).then(() =>
        within(timer, lastDeliveriesMilliseconds, concurrency.stop()),
      )
      return closing
    },
  }
}

/** Resolves with the work or after that time, whichever comes first. */
function within(timer: World['timer'], milliseconds: number, work: Promise<void>): Promise<void> {
  return new Promise((resolve) => {
    const cancel = timer(milliseconds, resolve)
    work.then(() => {
      cancel()
      resolve()
    })
  })
}
