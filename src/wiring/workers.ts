import { endOverdueImpersonations } from '../flows/session/logout.js'
import { accessTokensLiveSeconds } from '../flows/steps/issue-tokens.js'
import { endDeletionWaits } from '../flows/two-factor/delete-account.js'
import { createOutboxWorker, type OutboxWorker } from '../mail/outbox.js'
import type { Ports } from '../ports.js'
import type { Store } from '../store/store.js'
import type { Telemetry } from '../telemetry/telemetry.js'
import type { Early } from './early.js'
import { createHousekeeping, type Housekeeping } from './housekeeping.js'
import { policyOf } from './policy.js'

/** Starts sending the mails in the outbox. */
export function startDelivery(
  { settings, world, keyring, random, ...early }: Early,
  store: Store,
  { clock, limiter }: Pick<Ports, 'clock' | 'limiter'>,
  telemetry: Telemetry,
): OutboxWorker {
  const worker = createOutboxWorker({
    outbox: store.outbox,
    keyring,
    templates: early.templates,
    mailer: {
      send: (mail) => telemetry.span('latchkey.mail', {}, () => early.mailer.send(mail)),
    },
    reported(template, delivered, reason) {
      const why = reason === null ? {} : { 'error.type': reason }
      const attributes = { 'latchkey.mail.template': template, 'latchkey.outcome': delivered, ...why }
      telemetry.measure('latchkey.mails', 1, attributes)
    },
    countNotice: limiter.notice,
    now: clock.now,
    timer: world.timer,
    random: random.jitter,
    brandValues: { lifetimeHours: String(policyOf(settings).verificationSeconds / 3600) },
    logger: settings.logger,
  })
  worker.start()
  return worker
}

/** Starts housekeeping, which deletes rows that are no longer needed. */
export function startHousekeeping({ settings, world, random }: Early, store: Store, ports: Ports): Housekeeping {
  const housekeeping = createHousekeeping({
    store,
    endImpersonations: (count) => endOverdueImpersonations(ports, count),
    endDeletionWaits: (count) => endDeletionWaits(ports, count),
    clock: ports.clock,
    accessTokensLiveSeconds,
    timer: world.timer,
    random: random.jitter,
    logger: settings.logger,
  })
  housekeeping.start()
  return housekeeping
}
