import { type AccessFeed, createAccessFeed } from '../guard/access-settings.js'
import { type AllowList, createAllowList } from '../guard/allow-list.js'
import { createJwts, type Jwts } from '../guard/jwks.js'
import type { Revocations } from '../guard/revocations.js'
import type { World } from '../lib/runtime.js'
import type { SharedClock } from '../lib/shared-clock.js'
import type { KeySetState } from '../model/key-set.js'
import type { AccessPolicy, KeySets } from '../ports.js'
import { keySetUrlFault } from '../settings/jwks.js'
import type { Settings } from '../settings.js'
import type { AccessRecord, AccessSettings } from '../store/access-settings.js'
import type { Store } from '../store/store.js'
import type { ForeignTokens } from '../tokens/foreign-tokens.js'
import { createForeignTokens } from '../tokens/jwks.js'
import { checkKeySet } from '../tokens/key-source.js'

const defaultAlgorithms = ['RS256']

/** The access rules beside sessions and API tokens: those of the settings, as the store changes them. */
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
  const allowList = createAllowList(policy.networks, policy)
  const jwts = createJwts({
    exclusive: settings.jwks?.exclusive ?? false,
    clock,
    tokensOf: (url) => tokensOf(url, { settings, world, clock, policy }),
  })

  function use({ jwksUrl, networks }: AccessRecord): void {
    allowList.use(networks)
    jwts.use(jwksUrl ?? policy.jwksUrl)
    if (allowList.restricts() && !policy.knowsClients) {
      logger.error(
        { event: 'allow_list' },
        'The allow-list refuses every request: set trustedProxies to the CIDRs of your proxies instead of a count.',
      )
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

const refusedKeySet: KeySetState = { ok: false, keys: [], fetchedAt: null, fault: 'not_allowed' }

/** The access settings for flows: a change applies in this process before its promise resolves. */
export function appliedAtOnce(accessSettings: AccessSettings, feed: Pick<AccessFeed, 'catchUp'>): AccessSettings {
  async function applied<Outcome>(change: Promise<Outcome>): Promise<Outcome> {
    const outcome = await change
    await feed.catchUp()
    return outcome
  }
  return {
    read: () => accessSettings.read(),
    addNetwork: (...change) => applied(accessSettings.addNetwork(...change)),
    removeNetwork: (...change) => applied(accessSettings.removeNetwork(...change)),
    setJwksUrl: (...change) => applied(accessSettings.setJwksUrl(...change)),
  }
}

/** The key sets for flows. */
export function keySetsOf(
  { settings, world, policy }: Pick<AccessOptions, 'settings' | 'world' | 'policy'>,
  jwts: Pick<Jwts, 'keySet'>,
): KeySets {
  const algorithms = settings.jwks?.algorithms ?? defaultAlgorithms
  return {
    inForce: () => jwts.keySet(),
    check: (url) => checkKeySet({ url, reach: policy.reach, algorithms, world }),
  }
}

/** The settings for the key set apply to a URL that was set at run time, too. They may have changed since. */
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
    return {
      recall: () => null,
      check: async () => ({ fault: 'keys_unavailable' }),
      keySet: () => refusedKeySet,
      close: () => {},
    }
  }
  if (audience.length === 0) {
    logger.warn(
      { event: 'jwks_audience' },
      'jwks.audience is not set, so tokens that the issuer made for other applications are accepted too. Set it to the audience of this API.',
    )
  }
  const rules = {
    url,
    reach,
    audience,
    issuer: jwks?.issuer ?? null,
    algorithms: jwks?.algorithms ?? defaultAlgorithms,
  }
  return createForeignTokens(rules, { world, clock, logger })
}
