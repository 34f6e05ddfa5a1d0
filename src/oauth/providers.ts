import type { Providers } from './provider.js'

/** The providers that the settings name. */
export function createProviders(): Providers {
  return { list: () => [], find: () => null }
}
