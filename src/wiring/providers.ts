import type { Providers } from '../oauth/provider.js'
import { createProviders } from '../oauth/providers.js'
import { createAppleSecrets } from '../tokens/apple-secrets.js'
import { createIdTokens } from '../tokens/id-tokens.js'
import type { Early } from './early.js'

/** The OAuth providers of the settings, with what they need of the tokens' floor. */
export function providersOf({ settings, world }: Pick<Early, 'settings' | 'world'>): Providers {
  const { providers, logger } = settings
  return createProviders(providers, {
    world,
    idTokens: createIdTokens(world),
    appleSecret: createAppleSecrets(world),
    logger,
  })
}
