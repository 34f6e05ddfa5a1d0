import type { Keyring } from '../lib/keyring.js'
import type { World } from '../lib/runtime.js'
import type { HeldMail, OutboxMail } from '../model/outbox-mail.js'
import type { Logger } from '../settings.js'
import { createConcurrency } from './concurrency.js'
import { createDelivery, type DeliveryOptions } from './delivery.js'
import { mailLog, patient, type StoredRows, sealValues } from './outbox-rows.js'

export interface MailsOptions {
  keyring: Pick<Keyring, 'seal'>
  /** 16 random bytes, base64url. */
  randomId(): string
  /** Unix seconds. */
  now(): number
}

/** Makes outbox rows. The flow that makes a mail due passes the row to the store in the same step. */
export function createMails({ keyring, randomId, now }: MailsOptions) {
  return {
    /** `to` is a canonical address; `values` are those that `templates/mail/<template>` needs. */
    compose(template: string, to: string, values: Readonly<Record<string, string>>, held?: HeldMail): OutboxMail {
      const id = held?.id ?? randomId()
      const sealedValues = sealValues(keyring, id, values)
      return { id, recipient: to, template, sealedValues, createdAt: held?.dueAt ?? now() }
    },
  }
}

/** Sends the mails in the outbox. It never throws or rejects, because mail must not end a process. */
export interface OutboxWorker {
  /** Something may be due: sends it now. Resolves when nothing is left to do for now. */
  kick(): Promise<void>
  /** From now on, looks every few seconds for mails of other processes and for those to retry. */
  start(): void
  /** Sends due mails for ten seconds at most, then waits up to twenty for deliveries under way, and stops. */
  close(): Promise<void>
}

export interface OutboxWorkerOptions
  extends Pick<
    DeliveryOptions,
    'keyring' | 'templates' | 'mailer' | 'now' | 'random' | 'deliveryMilliseconds' | 'reported' | 'countNotice'
  > {
  outbox: StoredRows
  /** Values for every mail, such as `lifetimeHours`. The mail's own values win. */
  brandValues?: Readonly<Record<string, string>>
  timer: World['timer']
  logger: Logger
  /** How long delivery is retried. Default: three days. */
  setAsideAfterSeconds?: number
}

const pollMilliseconds = 5_000
const drainMilliseconds = 10_000
/** The longest time of a delivery by our transport. Ending sooner would send an accepted mail again, if the store missed it. */
const lastDeliveriesMilliseconds = 20_000
const threeDaysSeconds = 3 * 24 * 3_600

/**
 * One worker a process. A mail is sent once, unless a process dies between the server's acceptance and the store's
 * confirmation. Then it is sent again when its lease ends, under the same Message-ID. The other order would lose it.
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

  /** Looks on time, even while deliveries hang. */
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

/** Resolves when the work ends or the time is over, whichever comes first. */
function within(timer: World['timer'], milliseconds: number, work: Promise<void>): Promise<void> {
  return new Promise((resolve) => {
    const cancel = timer(milliseconds, resolve)
    work.then(() => {
      cancel()
      resolve()
    })
  })
}
