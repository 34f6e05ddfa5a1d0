import type { LeasedMail } from '../model/outbox-mail.js'
import type { Delivered } from './delivery.js'
import type { OutboxRows } from './outbox-rows.js'

export interface LanesOptions {
  rows: Pick<OutboxRows, 'lease'>
  /** Never rejects, and never takes longer than `deliverySeconds`. */
  deliver(mail: LeasedMail): Promise<Delivered>
  /** Unix seconds. */
  now(): number
}

/** Delivers what is due, four mails at a time. */
export interface Lanes {
  /** Something may be due. Resolves when there is nothing left to do for the moment. Never rejects. */
  run(): Promise<void>
  /** Begins no further mail. */
  stop(): void
}

const laneCount = 4
const batchSize = 10
const leaseSeconds = 60
/** What one delivery takes at most, however its transport behaves. */
export const deliverySeconds = 30
/** Begun later, a delivery could outlive its lease, and another process would send the mail as well. */
const beginWithinSeconds = leaseSeconds - deliverySeconds - 5
/** A server that took nothing of a whole batch is left alone for that long. */
const restSeconds = 5

/** Each lane goes on by itself: a delivery that hangs holds up its own lane, and the others take what it had before it. */
export function createLanes({ rows, deliver, now }: LanesOptions): Lanes {
  const queue: LeasedMail[] = []
  const lanes = new Set<Promise<void>>()
  let leasedAt = 0
  let leasing: Promise<void> | null = null
  /** How often somebody said that there may be mails, and which of these the last look that found none came after. */
  let wanted = 0
  let looked = 0
  let failures = 0
  let restingSince: number | null = null
  let stopped = false

  async function lane(): Promise<void> {
    for (let mail = await next(); mail; mail = await next()) note(await deliver(mail))
  }

  function note(delivered: Delivered): void {
    // That one mail is refused says that the server is well.
    failures = delivered === 'failed' ? failures + 1 : 0
    if (failures < batchSize) return
    failures = 0
    restingSince = now()
  }

  /** Leased mails whose time has nearly run out are left: they become due again by themselves. */
  async function next(): Promise<LeasedMail | null> {
    while (!stopped && !isResting()) {
      const mail = queue.shift()
      if (mail && now() <= leasedAt + beginWithinSeconds) return mail
      if (mail) continue
      if (!mayFind()) return null
      leasing ??= lease()
      await leasing
    }
    return null
  }

  async function lease(): Promise<void> {
    const after = wanted
    leasedAt = now()
    const leased = await rows.lease(batchSize, leasedAt, leasedAt + leaseSeconds)
    queue.push(...leased)
    if (leased.length === 0) looked = after
    leasing = null
  }

  function mayFind(): boolean {
    return !stopped && looked !== wanted && !isResting()
  }

  /** Also over when the clock was turned back. */
  function isResting(): boolean {
    if (restingSince !== null && Math.abs(now() - restingSince) >= restSeconds) restingSince = null
    return restingSince !== null
  }

  function open(): void {
    const opened = lane().finally(() => lanes.delete(opened))
    lanes.add(opened)
  }

  return {
    async run() {
      wanted += 1
      while (mayFind() || lanes.size > 0) {
        while (mayFind() && lanes.size < laneCount) open()
        await Promise.race(lanes)
      }
    },
    stop() {
      stopped = true
    },
  }
}
