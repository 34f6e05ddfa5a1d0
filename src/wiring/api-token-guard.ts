import { type ApiTokenGuard, createApiTokenCheck, type KnownApiToken } from '../guard/api-token.js'
import { LastUses } from '../guard/last-uses.js'
import type { Revocations } from '../guard/revocations.js'
import { followTokens } from '../guard/token-changes.js'
import type { HttpRequest } from '../http/message.js'
import { createRequestLimits } from '../http/request-limits.js'
import { sleep, type World } from '../lib/runtime.js'
import type { Ports } from '../ports.js'
import type { Settings } from '../settings.js'
import { createVerifiedCache } from '../tokens/verified-cache.js'

export interface ApiTokenGuardOptions {
  ports: Ports
  settings: Pick<Settings, 'logger'>
  revocations: Pick<Revocations, 'subscribe'>
  timer: World['timer']
  clientIp(request: HttpRequest): string | null
}

/** How long tokens of addresses over their limit wait to be read together: at most ten reads a second. */
const batchPauseMs = 100

/** The check of API tokens with all that it remembers; `close` writes the last uses. */
export function startApiTokenGuard(options: ApiTokenGuardOptions): ApiTokenGuard & { close(): Promise<void> } {
  const { ports, settings, revocations, timer, clientIp } = options
  const { apiTokens, keyring, clock } = ports
  const lastUses = new LastUses({ apiTokens, timer })
  const check = createApiTokenCheck({
    apiTokens,
    keyring,
    cache: createVerifiedCache<KnownApiToken>(),
    changes: followTokens(revocations),
    limits: createRequestLimits(ports, settings.logger),
    isOverLimit: (ip) => ip !== null && ports.limiter.refusedRequest('apiToken', ip) !== null,
    pause: () => sleep(batchPauseMs),
    lastUses,
    clock,
    clientIp,
    knowsClients: ports.policy.access.knowsClients,
  })
  return { ...check, close: () => lastUses.close() }
}
