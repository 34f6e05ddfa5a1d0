import { type AccessFeed, createAccessFeed } from '../guard/access-settings.js'
import { type AllowList, createAllowList } from '../guard/allow-list.js'
import { createJwts, type Jwts } from '../guard/jwks.js'
import type { Revocations } from '../guard/revocations.js'
import type { World } from '../lib/runtime.js'
import type { SharedClock } from '../lib/shared-clock.js'
import type { AccessPolicy } from '../ports.js'
import { keySetUrlFault } from '../settings/jwks.js'
import type { Settings } from '../settings.js'
import type { AccessRecord } from '../store/access-settings.js'
import type { Store } from '../store/store.js'
import type { ForeignTokens } from '../tokens/foreign-tokens.js'
import { createForeignTokens } from '../tokens/jwks.js'

/** What decides about access besides sessions and API tokens, as the settings fix it and the store changes it. */
export interface Access {
  allowList: AllowList
  jwts: Jwts
  feed: AccessFeed
  close(): void
}

export interface AccessOptions {
  settings: Settings
  world: World
  store: Pick<Store, 'accessSettings'>
  clock: SharedClock
  revocations: Pick<Revocations, 'subscribe'>
  policy: AccessPolicy
}

export function createAccess({ settings, world, store, clock, revocations, policy }: AccessOptions): Access {
  const { logger } = settings
  const allowList = createAllowList(policy.networks, policy.knowsClients)
  const jwts = createJwts({
    exclusive: settings.jwks?.exclusive ?? false,
    clock,
    tokensOf: (url) => tokensOf(url, { settings, world, clock, policy }),
  })

  function use({ jwksUrl, networks }: AccessRecord): void {
    allowList.use(networks)
    jwts.use(jwksUrl ?? policy.jwksUrl)
    if (allowList.restricts() && !policy.knowsClients) {
      logger.error({ event: 'allow_list' }, 'The allow-list lets nobody in: trustedProxies must be CIDRs, not a count.')
    }
  }

  const { accessSettings } = store
  const feed = createAccessFeed({ accessSettings, revocations, timer: world.timer, clock, logger, use })
  return {
    allowList,
    jwts,
    feed,
    close() {
      feed.close()
      jwts.close()
    },
  }
}

/** By what the settings say besides the address, whose rules may be other ones than when it was set at run time. */
function tokensOf(
  url: string,
  { settings, world, clock, policy }: Pick<AccessOptions, 'settings' | 'world' | 'clock' | 'policy'>,
): ForeignTokens {
  const { jwks, logger } = settings
  const { audience, reach } = policy
  const fault = keySetUrlFault(url, policy)
  if (fault) {
    logger.error(
      { event: 'jwks_refused', setting: `jwks.${fault.part}` },
      `The stored key set is not used: it ${fault.message}`,
    )
    return { recall: () => null, check: async () => ({ fault: 'keys_unavailable' }), close: () => {} }
  }
  if (audience.length === 0) {
    logger.warn(
      { event: 'jwks_audience' },
      'Without jwks.audience a token made for another application is good here too.',
    )
  }
  const rules = { url, reach, audience, issuer: jwks?.issuer ?? null, algorithms: jwks?.algorithms ?? ['RS256'] }
  return createForeignTokens(rules, { world, clock, logger })
}
