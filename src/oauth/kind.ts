import type { ClientSettings, ProviderSchema, ProviderSettings } from '../settings/providers.js'
import { createCodeFlow, type Endpoints, type Recipe, type Workshop } from './code-flow.js'
import type { Provider } from './provider.js'

/** A kind of OAuth provider: how its settings are parsed, and how we connect to it. */
export interface ProviderKind<Input = unknown> extends ProviderSchema<ClientSettings, Input> {
  create(settings: ProviderSettings, workshop: Workshop): Provider
}

/** The settings of a provider of that kind, as an application writes them. */
export type InputOf<Kind> = Kind extends ProviderKind<infer Input> ? Input : never

interface Definition<Own extends ClientSettings, Input, Where extends Endpoints> extends ProviderSchema<Own, Input> {
  /** What differs for this provider. It gets the settings that `schema` has parsed. */
  recipe(settings: ProviderSettings & Own, workshop: Workshop): Recipe<Where>
}

/** Joins the schema and the recipe of a kind, so that the recipe gets the parsed settings. */
export function defineProvider<Own extends ClientSettings, Input, Where extends Endpoints>({
  kind,
  schema,
  recipe,
}: Definition<Own, Input, Where>): ProviderKind<Input> {
  const isOwn = (settings: ProviderSettings): settings is ProviderSettings & Own => settings.kind === kind
  return {
    kind,
    schema,
    create(settings, workshop) {
      if (!isOwn(settings)) throw new TypeError(`${settings.name} is of the kind ${settings.kind}, not ${kind}`)
      return createCodeFlow(settings, recipe(settings, workshop), workshop)
    },
  }
}
