import type { ProviderSettings } from '../settings.js'
import { createApple } from './apple.js'
import type { Workshop } from './code-flow.js'
import { createDiscord } from './discord.js'
import { createGithub } from './github.js'
import { createGitlab } from './gitlab.js'
import { createGoogle } from './google.js'
import { createMicrosoft } from './microsoft.js'
import { createOpenId } from './openid.js'
import type { Provider, Providers } from './provider.js'

/** The providers that the settings name. */
export function createProviders(settings: readonly ProviderSettings[], workshop: Workshop): Providers {
  const byName = new Map(settings.map((one) => [one.name, createProvider(one, workshop)]))
  const choices = [...byName.values()].map(({ name, label }) => Object.freeze({ name, label }))
  return { list: () => choices, find: (name) => byName.get(name) ?? null }
}

function createProvider(settings: ProviderSettings, workshop: Workshop): Provider {
  switch (settings.kind) {
    case 'google':
      return createGoogle(settings, workshop)
    case 'github':
      return createGithub(settings, workshop)
    case 'microsoft':
      return createMicrosoft(settings, workshop)
    case 'apple':
      return createApple(settings, workshop)
    case 'discord':
      return createDiscord(settings, workshop)
    case 'gitlab':
      return createGitlab(settings, workshop)
    case 'openid':
      return createOpenId(settings, workshop)
  }
}
