import type { RouteContext } from '../http/route.js'

/** The mark beside a provider's name: `pages/provider-mark` draws those that it knows by name, and the first letter of others. */
type ProviderMark = Readonly<Record<string, true | string>>

function providerMark(name: string, title: string): ProviderMark {
  const [initial = ''] = title.trim()
  return { [name]: true, initial: initial.toUpperCase() }
}

/** A provider of the account page, with its mark. */
export function marked<Provider extends { name: string; title: string }>(provider: Provider) {
  return { ...provider, mark: providerMark(provider.name, provider.title) }
}

/** The providers that pages offer, with the last part of their path. */
export function providerLinks({ ports }: Pick<RouteContext, 'ports'>) {
  return ports.providers.list().map(({ name, label }) => {
    return { path: name, provider: label, mark: providerMark(name, label) }
  })
}
