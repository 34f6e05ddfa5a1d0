import { type AccessFeed, createAccessFeed } from '../guard/access-settings.js'
import { type AllowList, createAllowList } from '../guard/allow-list.js'
import { createJwts, type Jwts, type KeySetSource } from '../guard/jwks.js'
import type { Revocations } from '../guard/revocations.js'
import type { World } from '../lib/runtime.js'
import type { SharedClock } from '../lib/shared-clock.js'
import type { KeySetRules, KeySetState } from '../model/key-set.js'
import type { AccessPolicy, KeySets } from '../ports.js'
import { defaultAlgorithms, keySetUrlFault } from '../settings/jwks.js'
import type { Settings } from '../settings.js'
import type { AccessRecord, AccessSettings } from '../store/access-settings.js'
import type { Store } from '../store/store.js'
import type { ForeignTokens } from '../tokens/foreign-tokens.js'
import { createForeignTokens } from '../tokens/jwks.js'
import { checkKeySet } from '../tokens/key-source.js'

/** The access rules beside sessions and API tokens: those of the settings, as the store changes them. */
export interface Access {
  allowList: AllowList
  jwts: Jwts
  feed: AccessFeed
  close(): void
}

export interface AccessOptions {
  settings: Pick<Settings, 'logger'>
  world: World
  store: Pick<Store, 'accessSettings'>
  clock: SharedClock
  revocations: Pick<Revocations, 'subscribe'>
  policy: AccessPolicy
  /** What tokens of a key set must fulfil that has no rules of its own in the store. */
  rules: KeySetRules
}

/** The rules of the setting `jwks`. They also apply to a URL that was set at run time, so they may have changed since. */
export function keySetRulesOf({ jwks }: Pick<Settings, 'jwks'>): KeySetRules {
  return {
    issuer: jwks?.issuer ?? null,
    audience: jwks?.audience ?? [],
    algorithms: jwks?.algorithms ?? defaultAlgorithms,
    exclusive: jwks?.exclusive ?? false,
  }
}

export function createAccess(options: AccessOptions): Access {
  const { settings, world, store, clock, revocations, policy, rules } = options
  const { logger } = settings
  const allowList = createAllowList(policy.networks, policy)
  const jwts = createJwts({ clock, tokensOf: (keySet) => tokensOf(keySet, options) })

  function use({ jwksUrl, jwksRules, networks }: AccessRecord): void {
    allowList.use(networks)
    const url = jwksUrl ?? policy.jwksUrl
    jwts.use(url === null ? null : { url, rules: jwksRules ?? rules })
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
  { world, policy, rules }: Pick<AccessOptions, 'world' | 'policy' | 'rules'>,
  jwts: Pick<Jwts, 'keySet'>,
): KeySets {
  return {
    inForce: () => jwts.keySet(),
    check: (url) => checkKeySet({ url, reach: policy.reach, algorithms: rules.algorithms, world }),
  }
}

/** The stored URL is judged again: the settings may have changed since. */
function tokensOf(
  { url, rules }: KeySetSource,
  { settings, world, clock, policy }: Pick<AccessOptions, 'settings' | 'world' | 'clock' | 'policy'>,
): ForeignTokens {
  const { logger } = settings
  const { reach } = policy
  const { issuer, audience, algorithms } = rules
  const fault = keySetUrlFault(url, { audience, reach })
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
  return createForeignTokens({ url, reach, issuer, audience, algorithms }, { world, clock, logger })
}
