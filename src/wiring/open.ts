import type { AccessFeed } from '../guard/access-settings.js'
import { createDecisions } from '../guard/decisions.js'
import { createFrontDoor } from '../guard/front-door.js'
import { createGuard, type Guard } from '../guard/guard.js'
import { createAuthenticateHook } from '../guard/hook.js'
import { createOpenSockets } from '../guard/open-sockets.js'
import { createRevocations, type Revocations } from '../guard/revocations.js'
import { RotationProofs } from '../guard/rotation-proofs.js'
import type { VerifiedToken } from '../guard/session.js'
import { cookieNames } from '../http/cookies.js'
import type { HttpRequest } from '../http/message.js'
import { createRouter } from '../http/router.js'
import type { Handle, Watch } from '../http/verdict.js'
import { createClientIp } from '../lib/client-ip.js'
import type { Keyring } from '../lib/keyring.js'
import { createRequestIds } from '../lib/request-id.js'
import { createSharedClock, type SharedClock } from '../lib/shared-clock.js'
import { createLimiter } from '../limits/counters.js'
import { createMails } from '../mail/outbox.js'
import type { Passwords } from '../passwords/passwords.js'
import type { Ports } from '../ports.js'
import { routes } from '../routes/index.js'
import type { Store } from '../store/store.js'
import { openTelemetry } from '../telemetry/open-telemetry.js'
import type { Telemetry } from '../telemetry/telemetry.js'
import { createTokens } from '../tokens/jwt.js'
import { createAuthenticator } from '../tokens/totp.js'
import { createVerifiedCache } from '../tokens/verified-cache.js'
import { type Access, createAccess } from './access.js'
import { startApiTokenGuard } from './api-token-guard.js'
import { type BetweenProcesses, openBetweenProcesses } from './between-processes.js'
import type { Early } from './early.js'
import { limitHooks } from './limit-hooks.js'
import { measured, observe } from './measure.js'
import { openStore } from './open-store.js'
import { type Operations, operationsOf } from './operations.js'
import { createPasswordRules } from './password-rules.js'
import { policyOf } from './policy.js'
import { providersOf } from './providers.js'
import { tracedStore } from './traced-store.js'
import { visitorOf } from './visitor.js'
import { startDelivery, startHousekeeping } from './workers.js'

/** Everything, running. */
export interface Live {
  handle: Handle
  ports: Ports
  guard: Guard
  accessFeed: AccessFeed
  watch: Watch
  operations: Operations
  close(): Promise<void>
}

/**
 * Opens the store, migrates it, loads what was revoked, and builds ports, guard and router over it.
 *
 * @throws {Error} when the store cannot be opened, or records need an encryption key that is gone
 */
export async function open(early: Early): Promise<Live> {
  const { settings, world } = early
  const clock = createSharedClock(world, settings.database.kind !== 'datastore')
  const late: Late = { revocations: null, access: null, shared: null, kick: () => {} }
  const telemetry = await openTelemetry()
  const opened = await openStore(early, {
    onChange(change) {
      late.revocations?.apply(change)
      late.shared?.wake.notify()
    },
    onMail: () => late.kick(),
    onAudit: ({ event, outcome }) =>
      telemetry.measure('latchkey.audit.events', 1, { 'latchkey.event': event, 'latchkey.outcome': outcome }),
  })
  const store = tracedStore(opened, telemetry)
  try {
    await requireKeys(store, early.keyring, clock.now())
    await coverStoredHashes(early.passwords, store)
    const revocations = createRevocations({
      changes: store.changes,
      clock,
      timer: world.timer,
      accessTokenSeconds: settings.accessTokenSeconds,
      stalenessSeconds: settings.revocation.stalenessSeconds,
      logger: settings.logger,
    })
    late.revocations = revocations
    late.access = createAccess({ settings, world, store, clock, revocations, policy: policyOf(settings).access })
    await revocations.start()
    await late.access.feed.start()
    const shared = await openBetweenProcesses(early, store)
    late.shared = shared
    shared.wake.listen(revocations.wake)
    return await assemble(early, { store, clock, revocations, access: late.access, shared, telemetry }, late)
  } catch (error) {
    late.access?.close()
    late.revocations?.close()
    await late.shared?.close()
    await store.close()
    throw error
  }
}

/** What the store tells of, but what can only be made once the store is open. */
interface Late {
  revocations: Revocations | null
  access: Access | null
  shared: BetweenProcesses | null
  kick: () => void
}

async function requireKeys(store: Store, keyring: Keyring, now: number): Promise<void> {
  const gone = (await store.keysInUse(now)).filter((id) => !keyring.keyIds.includes(id))
  if (gone.length === 0) return
  throw new Error(
    `records still need a secret that is gone (${gone.join(', ')}): put the former encryptionKey, or without one the former JWT_REFRESH_TOKEN_SECRET, second in its list`,
  )
}

/** A failed sign-in must not be answered sooner than one by the slowest stored hash, also one that was not met yet. */
async function coverStoredHashes(passwords: Passwords, { hashKinds }: Store): Promise<void> {
  const slowest = await hashKinds.slowest()
  if (slowest) passwords.expect(slowest)
  if (passwords.kind.milliseconds > (slowest?.milliseconds ?? 0)) await hashKinds.note(passwords.kind)
}

/** What stands once the store is open. */
interface Opened {
  store: Store
  clock: SharedClock
  revocations: Revocations
  access: Access
  shared: BetweenProcesses
  telemetry: Telemetry
}

async function assemble(early: Early, opened: Opened, late: Late): Promise<Live> {
  const { store, clock, revocations, access, shared, telemetry } = opened
  const { settings, world, keyring, random } = early
  const proofs = new RotationProofs({ sessions: store.sessions, clock, timer: world.timer })
  const tokens = createTokens({
    accessSecrets: settings.accessSecrets,
    refreshSecrets: settings.refreshSecrets,
    issuer: settings.origin,
    audience: store.installationId,
  })
  const worker = startDelivery(early, store, clock, telemetry)
  late.kick = () => void worker.kick()

  const ports: Ports = {
    ...nounsOf(store),
    passwords: early.passwords,
    passwordFaults: createPasswordRules({ settings, world, audit: store.audit, clock, random }),
    tokens,
    authenticator: createAuthenticator(),
    providers: providersOf(early),
    keyring,
    mails: createMails({ keyring, randomId: random.id, now: clock.now }),
    limiter: createLimiter({ counters: shared.counters, limits: settings.limits, now: clock.now }),
    proofs,
    clock,
    random,
    policy: policyOf(settings),
    hooks: limitHooks(settings.hooks, world.timer),
  }
  const housekeeping = startHousekeeping(early, store, ports)
  const { handle, guard, apiTokens, decisions } = createHandle(early, ports, opened)
  const operations = operationsOf(store, revocations, access.feed, shared.pingRedis)
  observe({ telemetry, decisions, operations, passwords: early.passwords, world })
  const { sessionSeconds } = settings
  const { timer } = world
  const sockets = createOpenSockets({ revocations, apiTokens, jwts: access.jwts, clock, sessionSeconds, timer })
  return {
    handle,
    ports,
    guard,
    accessFeed: access.feed,
    watch: sockets.watch,
    operations,
    async close() {
      telemetry.close()
      sockets.close()
      access.close()
      await housekeeping.close()
      await worker.close()
      await proofs.close()
      await apiTokens.close()
      revocations.close()
      await early.mailer.close()
      await early.passwords.close()
      await shared.close()
      await store.close()
    },
  }
}

/** What flows reach of the store: its nouns, and none of what keeps it running. */
function nounsOf(store: Store): Pick<Ports, keyof Ports & keyof Store> {
  return {
    users: store.users,
    identities: store.identities,
    sessions: store.sessions,
    oneTimeTokens: store.oneTimeTokens,
    secondFactors: store.secondFactors,
    devices: store.devices,
    hashKinds: store.hashKinds,
    apiTokens: store.apiTokens,
    outbox: store.outbox,
    audit: store.audit,
    accessSettings: store.accessSettings,
  }
}

function createHandle(early: Early, ports: Ports, { clock, revocations, access, telemetry }: Opened) {
  const { settings, templates, mailbox, world } = early
  const requestId = createRequestIds()
  const clientIp = createClientIp(settings.trustedProxies)
  const names = cookieNames(settings)
  const ipOf = (request: HttpRequest) => clientIp(request.ip, request.headers)
  const { timer } = early.world
  const apiTokens = startApiTokenGuard({ ports, settings, revocations, timer, clientIp: ipOf })
  const decisions = createDecisions()
  const guard = createGuard({
    settings,
    decisions,
    cookieNames: names,
    tokens: ports.tokens,
    verified: createVerifiedCache<VerifiedToken>(),
    revocations,
    proofs: ports.proofs,
    clock,
    clientIp: ipOf,
    requestId,
    accessFeed: access.feed,
    allowList: access.allowList,
    hook: createAuthenticateHook({ authenticate: settings.authenticate, clientIp: ipOf, timer: world.timer }),
    apiTokens,
    jwts: access.jwts,
  })
  const router = createRouter({
    routes,
    settings,
    ports,
    cookieNames: names,
    session: guard.identifySession,
    templates,
    mailbox,
    visitor: visitorOf(ipOf),
    requestId,
    logger: settings.logger,
    isCurrent: revocations.isFresh,
    refused: (code) => telemetry.measure('latchkey.refusals', 1, { 'error.type': code }),
  })
  const door = measured(router, telemetry, settings.basePath)
  const parts = { router: door, guard, revocations }
  return { handle: createFrontDoor(settings, parts, requestId), guard, apiTokens, decisions }
}
