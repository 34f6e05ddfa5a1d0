import type { Providers } from '../oauth/provider.js'
import { createProviders, providerKinds } from '../oauth/providers.js'
import { createClientAssertions } from '../tokens/client-assertions.js'
import { createIdTokens } from '../tokens/id-tokens.js'
import type { Early } from './early.js'

/** The OAuth providers of the settings, with what they need of the tokens' floor. */
export function providersOf({ settings, world }: Pick<Early, 'settings' | 'world'>): Providers {
  const { providers, logger } = settings
  return createProviders(providerKinds, providers, {
    world,
    idTokens: createIdTokens(world),
    signAssertion: createClientAssertions(world),
    logger,
  })
}
