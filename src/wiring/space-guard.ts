import { createOpenSockets } from '../guard/open-sockets.js'
import type { Listener, Revocations } from '../guard/revocations.js'
import { createSpaceDecision } from '../guard/space-guard.js'
import type { SpacePorts } from '../http/route.js'
import type { Handle, Watch } from '../http/verdict.js'
import { createRequestIds } from '../lib/request-id.js'
import { isLoopbackHost } from '../lib/url.js'
import type { KeySetRules } from '../model/key-set.js'
import type { SpaceName } from '../model/visitor.js'
import type { AccessPolicy, Ports } from '../ports.js'
import { defaultAlgorithms } from '../settings/jwks.js'
import type { Settings } from '../settings.js'
import { appliedAtOnce, createAccess, keySetsOf } from './access.js'
import { startApiTokenGuard } from './api-token-guard.js'
import { createRequestIp } from './client-ip.js'
import type { HomeParts } from './home.js'
import { scopedFeed } from './scoped-feed.js'

/** What runs of the host before its spaces do. */
export interface SpaceGuardParts extends Pick<HomeParts, 'settings' | 'world' | 'store' | 'clock' | 'revocations'> {
  ports: Ports
}

export interface SpaceGuardOptions {
  space: SpaceName
  /** The origin of the spaces' `baseUrl`. */
  origin: string
  /** Proxies in front of the spaces' socket. */
  trustedProxies: Settings['trustedProxies']
}

/** The access rules of one space, running. */
export interface GuardedSpace {
  guard: {
    /** Our answer, or a pass. Synchronous while data is fresh and the credential is cached. */
    decide: Handle
    /** Calls back when the principal loses access. */
    watch: Watch
  }
  /** For the routes of the control API that concern this space. */
  ports: SpacePorts
  /** Writes the last uses of tokens and stops following changes. Requests must have ended. */
  close(): Promise<void>
}

/** Of a key set that is stored without rules. */
const defaultRules: KeySetRules = { issuer: null, audience: [], algorithms: defaultAlgorithms, exclusive: false }

/**
 * The guard of a space over its own tokens, key set and allow-list. It reads them at once; until then requests wait, and get
 * 503 when the store does not answer.
 */
export function createSpaceGuard(parts: SpaceGuardParts, options: SpaceGuardOptions): GuardedSpace {
  const { world, store, clock, revocations } = parts
  const { space, origin, trustedProxies } = options
  const settings = { ...parts.settings, origin, trustedProxies, development: isDevelopment(parts.settings, origin) }
  const own = store.at(space.id)
  const changes = closable(revocations)
  const feed = scopedFeed(changes, space.id)
  const policy = accessPolicy(settings)
  const rules = { policy, rules: defaultRules }
  const access = createAccess({ settings, world, store: own, clock, revocations: feed, ...rules })
  const clientIp = createRequestIp(settings)
  const ports: Ports = { ...parts.ports, ...own, policy: { ...parts.ports.policy, access: policy } }
  const apiTokens = startApiTokenGuard({ ports, settings, revocations: feed, timer: world.timer, clientIp })
  const decide = createSpaceDecision({
    settings,
    clock,
    revocations,
    accessFeed: access.feed,
    allowList: access.allowList,
    apiTokens,
    jwts: access.jwts,
    clientIp,
    requestId: createRequestIds(),
  })
  const sockets = createOpenSockets({
    revocations: { ...revocations, subscribe: feed.subscribe },
    apiTokens,
    jwts: access.jwts,
    clock,
    sessionSeconds: settings.sessionSeconds,
    timer: world.timer,
  })
  // A read that fails is repeated. Until one succeeds, each request waits for it and is refused.
  access.feed.start().catch(() => {})
  return {
    guard: { decide, watch: sockets.watch },
    ports: {
      space,
      apiTokens: own.apiTokens,
      accessSettings: appliedAtOnce(own.accessSettings, access.feed),
      keySets: keySetsOf({ world, ...rules }, access.jwts),
      policy: ports.policy,
    },
    async close() {
      changes.close()
      sockets.close()
      access.close()
      await apiTokens.close()
    },
  }
}

/** Both origins count: the host's pages may be on loopback while its spaces are public. */
function isDevelopment({ development }: Settings, origin: string): boolean {
  const { protocol, hostname } = new URL(origin)
  return development && protocol === 'http:' && isLoopbackHost(hostname)
}

/** Nothing is fixed by settings: a space keeps its allow-list and key set in the store. */
function accessPolicy({ trustedProxies, development }: Pick<Settings, 'trustedProxies' | 'development'>): AccessPolicy {
  return {
    networks: [],
    knowsClients: trustedProxies.kind !== 'hops',
    jwksUrl: null,
    audience: [],
    reach: { allowPrivate: false, allowLoopback: development },
  }
}

/** The change feed with an end, because spaces come and go while the host runs. */
function closable(revocations: Pick<Revocations, 'subscribe' | 'unsubscribe'>) {
  const listeners: Listener[] = []
  const notify: Listener = (change) => {
    for (const listener of listeners) listener(change)
  }
  revocations.subscribe(notify)
  return {
    subscribe: (listener: Listener) => void listeners.push(listener),
    close: () => revocations.unsubscribe(notify),
  }
}
