import type { LeasedMail } from '../model/outbox-mail.js'
import { type Delivered, deliverySeconds } from './delivery.js'
import type { OutboxRows } from './outbox-rows.js'

export interface ConcurrencyOptions {
  rows: Pick<OutboxRows, 'lease'>
  /** Never rejects, and never takes longer than `deliverySeconds`. */
  deliver(mail: LeasedMail): Promise<Delivered>
  /** Unix seconds. */
  now(): number
}

/** Delivers the due mails, four at a time. */
export interface Concurrency {
  /** Something may be due. Resolves when nothing is left to do for now. Never rejects. */
  run(): Promise<void>
  /** Begins no further mail. Resolves when those under way have ended. Never rejects. */
  stop(): Promise<void>
}

const concurrentDeliveries = 4
const batchSize = 10
const leaseSeconds = 60
/** A delivery that begins later could outlive its lease, and another process would send the mail as well. */
const beginWithinSeconds = leaseSeconds - deliverySeconds - 5
/** After a whole batch has failed, the mail server is left alone for that long. */
const restSeconds = 5

/** Each worker loop is independent: a delivery that hangs delays its own loop only, and the others take the mails. */
export function createConcurrency({ rows, deliver, now }: ConcurrencyOptions): Concurrency {
  const due = createDue(rows, now)
  const running = new Set<Promise<void>>()

  async function deliverAll(): Promise<void> {
    for (let mail = await due.next(); mail; mail = await due.next()) due.note(await deliver(mail))
  }

  function open(): void {
    const opened = deliverAll().finally(() => running.delete(opened))
    running.add(opened)
  }

  return {
    async run() {
      due.look()
      while (due.mayBe() || running.size > 0) {
        while (due.mayBe() && running.size < concurrentDeliveries) open()
        await Promise.race(running)
      }
    },
    async stop() {
      due.stop()
      await Promise.all(running)
    },
  }
}

/** Provides due mails one by one, leasing ten at a time. */
function createDue(rows: ConcurrencyOptions['rows'], now: ConcurrencyOptions['now']) {
  const queue: LeasedMail[] = []
  let leasedAt = 0
  let leasing: Promise<void> | null = null
  /** The number of wake-ups so far, and the number at the start of the last look that found no mail. */
  let wanted = 0
  let looked = 0
  const rest = createRest(now)
  let stopped = false

  async function lease(): Promise<void> {
    const after = wanted
    leasedAt = now()
    const leased = await rows.lease(batchSize, leasedAt, leasedAt + leaseSeconds)
    queue.push(...leased)
    if (leased.length === 0) looked = after
    leasing = null
  }

  const mayBe = () => !stopped && looked !== wanted && !rest.isOn()
  return {
    mayBe,
    note(delivered: Delivered): void {
      // The mail that sums up may be due since the last look.
      if (delivered === 'summed_up') wanted += 1
      else rest.note(delivered)
    },
    look() {
      wanted += 1
    },
    /** Skips leased mails whose lease has nearly ended. They become due again by themselves. */
    async next(): Promise<LeasedMail | null> {
      while (!stopped && !rest.isOn()) {
        const mail = queue.shift()
        if (mail && now() <= leasedAt + beginWithinSeconds) return mail
        if (mail) continue
        if (!mayBe()) return null
        leasing ??= lease()
        await leasing
      }
      return null
    },
    stop() {
      stopped = true
    },
  }
}

/** A rest after as many failures in a row as a batch holds. */
function createRest(now: ConcurrencyOptions['now']) {
  let failures = 0
  let since: number | null = null
  return {
    note(delivered: Delivered): void {
      // A refusal of one mail shows that the server works.
      failures = delivered === 'failed' ? failures + 1 : 0
      if (failures < batchSize) return
      failures = 0
      since = now()
    },
    /** Also ends when the clock is set back. */
    isOn(): boolean {
      if (since !== null && Math.abs(now() - since) >= restSeconds) since = null
      return since !== null
    },
  }
}
