import type { ProviderKinds, ProviderSettings } from '../settings/providers.js'
import { apple } from './apple.js'
import type { Workshop } from './code-flow.js'
import { discord } from './discord.js'
import { github } from './github.js'
import { gitlab } from './gitlab.js'
import { google } from './google.js'
import type { InputOf, ProviderKind } from './kind.js'
import { microsoft } from './microsoft.js'
import { openid } from './openid.js'
import type { Providers } from './provider.js'

/** Every provider that Latchkey knows. To add one, write its file and add it to `further`. */
export const providerKinds = {
  google,
  github,
  further: { microsoft, apple, discord, gitlab },
  other: openid,
} satisfies ProviderKinds<ProviderKind>

type Further = (typeof providerKinds)['further']
type KnownProvidersInput = { [Name in keyof Further]?: InputOf<Further[Name]> | undefined }

/** The setting `oauth`. */
export interface FurtherProvidersInput extends KnownProvidersInput {
  [name: string]: InputOf<typeof openid> | KnownProvidersInput[keyof KnownProvidersInput]
}

/** The providers that the settings name. */
export function createProviders(
  { google, github, further, other }: ProviderKinds<ProviderKind>,
  settings: readonly ProviderSettings[],
  workshop: Workshop,
): Providers {
  const kinds = [google, github, ...Object.values(further), other]
  const created = settings.map((one) => {
    const kind = kinds.find((candidate) => candidate.kind === one.kind)
    if (!kind) throw new TypeError(`The provider ${one.name} is of a kind that is not listed: ${one.kind}`)
    return kind.create(one, workshop)
  })
  const byName = new Map(created.map((provider) => [provider.name, provider]))
  const choices = created.map(({ name, label }) => Object.freeze({ name, label }))
  return { list: () => choices, find: (name) => byName.get(name) ?? null }
}
