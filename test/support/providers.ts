import { createWorld, type Runtime } from '../../src/lib/runtime.js'
import type { AuthorizationAnswer, Provider } from '../../src/oauth/provider.js'
import { createTestRuntime, type OAuthPeer, testSettings } from '../../src/testing.js'
import { providersOf } from '../../src/wiring/providers.js'
import { readSettings, type SettingsInput } from '../../src/wiring/settings.js'

/** A line of the log, as fields. */
export type LogLine = Readonly<Record<string, unknown>>

export interface TestProviders {
  find(name: string): Provider
  list(): readonly { name: string; label: string }[]
  log: LogLine[]
}

/** The providers of an application with these settings, in that world. */
export function testProviders(settings: Partial<SettingsInput>, runtime: Runtime): TestProviders {
  const log: LogLine[] = []
  const write = (fields: LogLine, message: string) => log.push({ ...fields, message })
  const input = testSettings({ ...settings, logger: { warn: write, error: write } })
  const providers = providersOf({ settings: readSettings(input, { testing: true }), world: createWorld(runtime) })
  return {
    list: providers.list,
    find(name) {
      const provider = providers.find(name)
      if (provider === null) throw new Error(`${name} is none of the providers`)
      return provider
    },
    log,
  }
}

/** The providers of an application whose outside world is the peer. */
export function peerProviders(peer: OAuthPeer, fetch: typeof globalThis.fetch = peer.fetch): TestProviders {
  return testProviders(peer.settings, createTestRuntime({ clock: peer.clock, fetch }))
}

/** What a flow keeps of a request: 43 characters and more, as RFC 7636 wants it. */
export const kept = {
  state: 'state-of-this-test',
  verifier: 'verifier-of-this-test-with-enough-characters-in-it',
  nonce: 'nonce-of-this-test',
}

/** What a flow makes of the address that a browser comes back with. */
export function answerOf(callback: string): AuthorizationAnswer {
  const { searchParams } = new URL(callback)
  const { verifier, nonce } = kept
  return { code: searchParams.get('code') ?? '', verifier, nonce, issuer: searchParams.get('iss') }
}

/** The address that the browser is sent to; a provider that cannot be asked fails the test. */
export async function startAt(provider: Provider): Promise<string> {
  const url = await provider.authorizationUrl(kept)
  if (url === null) throw new Error('the provider has no address to send the browser to')
  return url
}
