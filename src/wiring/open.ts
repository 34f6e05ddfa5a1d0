import { createActing, createKnownSession } from '../guard/acting.js'
import { createDecisions } from '../guard/decisions.js'
import { createFrontDoor } from '../guard/front-door.js'
import { createGuard, type Guard } from '../guard/guard.js'
import { createAuthenticateHook } from '../guard/hook.js'
import { createOpenSockets } from '../guard/open-sockets.js'
import { createRevocations, type Revocations } from '../guard/revocations.js'
import { RotationProofs } from '../guard/rotation-proofs.js'
import type { VerifiedToken } from '../guard/session.js'
import { cookieNames } from '../http/cookies.js'
import { createOriginCheck } from '../http/origin-check.js'
import { createRouter } from '../http/router.js'
import type { Handle, Watch } from '../http/verdict.js'
import { createRequestIds } from '../lib/request-id.js'
import type { World } from '../lib/runtime.js'
import { createSharedClock } from '../lib/shared-clock.js'
import { createLimiter } from '../limits/counters.js'
import { createMails } from '../mail/outbox.js'
import { applicationScope } from '../model/scope.js'
import type { Ports } from '../ports.js'
import type { Store } from '../store/store.js'
import { openTelemetry } from '../telemetry/open-telemetry.js'
import type { Telemetry } from '../telemetry/telemetry.js'
import { createTokens } from '../tokens/jwt.js'
import { createAuthenticator } from '../tokens/totp.js'
import { createVerifiedCache } from '../tokens/verified-cache.js'
import { createWebauthn } from '../tokens/webauthn/ceremonies.js'
import { type Access, appliedAtOnce, createAccess, keySetRulesOf, keySetsOf } from './access.js'
import { startApiTokenGuard } from './api-token-guard.js'
import { type BetweenProcesses, openBetweenProcesses } from './between-processes.js'
import { createRequestIp } from './client-ip.js'
import { createServerDoctor } from './doctor/server.js'
import type { Early } from './early.js'
import { createHealth } from './health.js'
import { application, type Home, type HomeParts } from './home.js'
import { limitHooks } from './limit-hooks.js'
import { measured, type Operations, observe, operationsOf, tracedStore } from './measure.js'
import { notedTokens } from './noted-tokens.js'
import { createPasswordRules, policyOf } from './policy.js'
import { providersOf } from './providers.js'
import { scopedFeed } from './scoped-feed.js'
import { countUnreachable, coverStoredHashes, requireKeys } from './start-checks.js'
import { visitorOf } from './visitor.js'
import { startDelivery, startHousekeeping } from './workers.js'

/** Everything, running. */
export interface Live {
  handle: Handle
  ports: Ports
  guard: Guard
  watch: Watch
  operations: Operations
  close(): Promise<void>
}

/**
 * Opens the store, migrates it, loads what was revoked, and builds ports, guard and router over it.
 *
 * @param home null: an application
 * @throws {Error} when the store cannot be opened, or records need an encryption key that is gone
 */
export async function open(early: Early, home: Home | null): Promise<Live> {
  const telemetry = await openTelemetry()
  const { world } = early
  const timer: World['timer'] = (milliseconds, callback) => telemetry.apart(() => world.timer(milliseconds, callback))
  // A request may be what opens the store; the workers that start now outlive its span.
  return telemetry.apart(() => openAll({ ...early, world: { ...world, timer } }, home ?? application, telemetry))
}

async function openAll(early: Early, home: Home, telemetry: Telemetry): Promise<Live> {
  const { settings, world } = early
  const clock = createSharedClock(world, settings.database.kind !== 'datastore')
  const late: Late = { revocations: null, access: null, shared: null, kick: () => {} }
  const opened = await home.openStore(early, {
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
    await countUnreachable(store, settings)
    const revocations = createRevocations({
      changes: store.changes,
      clock,
      timer: world.timer,
      accessTokenSeconds: settings.accessTokenSeconds,
      stalenessSeconds: settings.revocation.stalenessSeconds,
      logger: settings.logger,
    })
    late.revocations = revocations
    late.access = createAccess({
      settings,
      world,
      store,
      clock,
      revocations: scopedFeed(revocations, applicationScope),
      policy: policyOf(settings).access,
      rules: keySetRulesOf(settings),
    })
    await revocations.start()
    await late.access.feed.start()
    const shared = await openBetweenProcesses(early, store)
    late.shared = shared
    shared.wake.listen(revocations.wake)
    const { keyring } = early
    const policy = policyOf(settings)
    const limiter = createLimiter({ counters: shared.counters, limits: settings.limits, now: clock.now })
    const parts: HomeParts = { settings, world, store, clock, revocations, shared, keyring, limiter, policy }
    const rights = await home.createRights(parts)
    return await assemble(early, { ...parts, home, rights, access: late.access, telemetry }, late)
  } catch (error) {
    await home.close()
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

/** What stands once the store is open. */
interface Opened extends HomeParts {
  home: Home
  rights: Pick<Ports, 'rights' | 'adminTokens'>
  access: Access
  telemetry: Telemetry
}

async function assemble(early: Early, opened: Opened, late: Late): Promise<Live> {
  const { home, store, clock, revocations, access, shared, telemetry } = opened
  const { settings, world } = early
  const proofs = new RotationProofs({ sessions: store.sessions, clock, timer: world.timer })
  const signing = createTokens({
    accessSecrets: settings.accessSecrets,
    refreshSecrets: settings.refreshSecrets,
    issuer: settings.origin,
    audience: store.installationId,
  })
  await signing.checkSigning()
  const tokens = notedTokens(signing, { keyIds: store.keyIds, clock })
  const operations = operationsOf(store, revocations, access.feed, shared.pingRedis)
  const ports = portsOf(early, opened, { tokens, proofs, operations })
  await home.start(ports, opened)
  const worker = startDelivery(early, store, ports, telemetry)
  late.kick = () => telemetry.apart(() => void worker.kick())
  const housekeeping = startHousekeeping(early, store, ports)
  const { handle, guard, apiTokens, decisions } = createHandle(early, ports, opened)
  observe({ telemetry, decisions, operations, passwords: early.passwords, world })
  const { sessionSeconds } = settings
  const { timer } = world
  const sockets = createOpenSockets({ revocations, apiTokens, jwts: access.jwts, clock, sessionSeconds, timer })
  return {
    handle,
    ports,
    guard,
    watch: sockets.watch,
    operations,
    async close() {
      telemetry.close()
      sockets.close()
      await home.close()
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

function portsOf(
  early: Early,
  { home, rights, store, clock, access, revocations, limiter, policy }: Opened,
  { tokens, proofs, operations }: Pick<Ports, 'tokens' | 'proofs'> & { operations: Operations },
): Ports {
  const { settings, world, keyring, random } = early
  const running = { operations }
  return {
    ...nounsOf(store),
    accessSettings: appliedAtOnce(store.accessSettings, access.feed),
    passwords: early.passwords,
    passwordFaults: createPasswordRules({ settings, world, audit: store.audit, clock, random }),
    tokens,
    authenticator: createAuthenticator(),
    webauthn: createWebauthn(),
    providers: providersOf(early),
    keyring,
    mails: { ...createMails({ keyring, randomId: random.id, now: clock.now }), showRefused: early.showRefused },
    limiter,
    proofs,
    revocations,
    ...rights,
    home: home.name,
    keySets: keySetsOf({ world, policy: policy.access, rules: keySetRulesOf(settings) }, access.jwts),
    operations: { health: createHealth({ live: () => running, ready: async () => running }, early) },
    clock,
    random,
    policy,
    hooks: limitHooks(settings.hooks, world.timer),
    doctor: createServerDoctor({ early, store, feedAgeMs: revocations.ageMs, more: home.topics }),
  }
}

/** What flows reach of the store: its nouns, and none of what keeps it running. */
function nounsOf(store: Store): Pick<Ports, keyof Ports & keyof Store> {
  return {
    users: store.users,
    identities: store.identities,
    passkeys: store.passkeys,
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

function createHandle(early: Early, ports: Ports, { home, clock, revocations, access, telemetry }: Opened) {
  const { settings, scopeOf, templates, mailbox, world } = early
  const requestId = createRequestIds()
  const names = cookieNames(settings)
  const ipOf = createRequestIp(settings)
  const origins = createOriginCheck(settings, clock.monotonicMs)
  const { timer } = early.world
  const feed = scopedFeed(revocations, applicationScope)
  const apiTokens = startApiTokenGuard({ ports, settings, revocations: feed, timer, clientIp: ipOf })
  const decisions = createDecisions()
  const guard = createGuard({
    settings,
    scopeOf,
    decisions,
    origins,
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
    routes: home.routes,
    settings,
    ports,
    cookieNames: names,
    session: guard.identifySession,
    requireAllowed: guard.requireAllowed,
    acting: createActing({ tokens: ports.tokens, revocations, clock, cookieNames: names }),
    knownSession: createKnownSession({ tokens: ports.tokens, revocations, clock, cookieNames: names }),
    templates,
    mailbox,
    origins,
    visitor: visitorOf(ipOf),
    requestId,
    logger: settings.logger,
    isCurrent: revocations.isFresh,
    refused: (code) => telemetry.measure('latchkey.refusals', 1, { 'error.type': code }),
  })
  const door = measured(router, telemetry, settings.basePath)
  const parts = { scopeOf, router: door, guard, origins, revocations }
  return { handle: createFrontDoor(settings, parts, requestId), guard, apiTokens, decisions }
}
