import { sleep } from '../../lib/runtime.js'
import { createSharedClock } from '../../lib/shared-clock.js'
import { createLimiter } from '../../limits/counters.js'
import { createMails } from '../../mail/outbox.js'
import type { HomeName } from '../../model/home.js'
import { createPasswords } from '../../passwords/hashed-passwords.js'
import type { Ports } from '../../ports.js'
import type { Store } from '../../store/store.js'
import { createWebauthn } from '../../tokens/webauthn/ceremonies.js'
import { keySetRulesOf, keySetsOf } from '../access.js'
import { createPasswordRules } from '../password-rules.js'
import { policyOf } from '../policy.js'
import type { ToolParts } from './store.js'
import type { ToolWake } from './wake.js'

/** What the flows of the tool reach. Sessions, tokens and providers of requests are missing: the tool signs in for no user. */
export type ToolPorts = Pick<
  Ports,
  | 'users'
  | 'passkeys'
  | 'sessions'
  | 'apiTokens'
  | 'audit'
  | 'accessSettings'
  | 'hashKinds'
  | 'passwords'
  | 'passwordFaults'
  | 'keyring'
  | 'webauthn'
  | 'mails'
  | 'limiter'
  | 'keySets'
  | 'clock'
  | 'random'
  | 'policy'
  | 'home'
>

export async function createToolPorts(
  parts: ToolParts,
  { store, wake, home }: { store: Store; wake: ToolWake; home: HomeName },
): Promise<ToolPorts> {
  const { settings, world, keyring, random } = parts
  const clock = createSharedClock(world)
  clock.learn((await store.changes.recent(0)).storeNowMs)
  const policy = policyOf(settings)
  const { password, limits } = settings
  const { users, passkeys, sessions, apiTokens, audit, accessSettings, hashKinds } = store
  return {
    users,
    passkeys,
    sessions,
    apiTokens,
    audit,
    accessSettings,
    hashKinds,
    passwords: createPasswords({
      ...{ ...password, monotonic: world.monotonic, sleep },
      ...{ threads: 0, maxQueue: Number.POSITIVE_INFINITY },
    }),
    passwordFaults: createPasswordRules({ settings, world, audit, clock, random }),
    keyring,
    webauthn: createWebauthn(),
    // Mail waits in the outbox for the application, which logs what its limits refuse.
    mails: { ...createMails({ keyring, randomId: random.id, now: clock.now }), showRefused() {} },
    limiter: createLimiter({ counters: wake.counters, limits, now: clock.now }),
    keySets: keySetsOf({ world, policy: policy.access, rules: keySetRulesOf(settings) }, { keySet: () => null }),
    clock,
    random,
    policy,
    home,
  }
}
