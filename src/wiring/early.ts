import { createScope, type ScopeOf } from '../guard/scope.js'
import { createKeyring, type Keyring } from '../lib/keyring.js'
import { createRandom, type RandomSource } from '../lib/random.js'
import { createWorld, type Runtime, sleep, type World } from '../lib/runtime.js'
import { createPasswords } from '../passwords/hashed-passwords.js'
import type { Passwords } from '../passwords/passwords.js'
import type { Settings } from '../settings.js'
import { createTemplates } from '../templates/handlebars.js'
import type { Templates } from '../templates/templates.js'
import { createDelivery, type Delivery } from './delivery.js'
import { requirePackages } from './packages.js'
import { readSettings, type SettingsInput } from './settings.js'

/** The parts that exist at once, before the store is open. */
export interface Early extends Delivery {
  settings: Settings
  /** One for all, because it remembers the paths that it has judged. */
  scopeOf: ScopeOf
  world: World
  keyring: Keyring
  random: RandomSource
  templates: Templates
  passwords: Passwords
  /** Why no worker thread could be started, so that passwords are hashed on the event loop; null while none has failed. */
  hashFallback(): string | null
}

/**
 * @param adapt what the host of many applications changes in the parsed settings
 * @throws {SettingsError} with every fault of the settings at once, or when a package is missing
 */
export function createEarly(
  input: SettingsInput,
  runtime: Runtime | undefined,
  adapt: (settings: Settings) => Settings = (settings) => settings,
): Early {
  const world = createWorld(runtime)
  const settings = adapt(readSettings(input, world))
  requirePackages(settings)
  const random = createRandom()
  const templates = createTemplates(settings, (names) => {
    const fields = { event: 'labels_missing', locale: settings.locale, count: names.length, names }
    settings.logger.warn(
      fields,
      'Some texts of this language are missing and show in English. Add them to the setting labels.',
    )
  })
  if (settings.passkeys.offAtAddress) {
    settings.logger.warn(
      { event: 'passkeys_off', origin: settings.origin },
      'Passkeys are off, because browsers make none for an IP address. In development, set baseUrl to http://localhost and its port, and open that.',
    )
  }
  return {
    settings,
    scopeOf: createScope(settings),
    world,
    random,
    templates,
    keyring: createKeyring(settings.encryptionKeys),
    ...passwordsOf(settings, world),
    ...createDelivery(settings, { random, world, templates }),
  }
}

const eventLoopHashing = 'Passwords are hashed on the event loop, which holds up requests: '
const noThreads =
  'the permission model of Node.js allows no worker threads here. A space host starts its spaces so; elsewhere, add --allow-worker.'
const threadsFail =
  'no worker thread starts here. If a bundler included Latchkey, exclude it: serverExternalPackages: ["latchkey"] in Next.js, --packages=external with esbuild.'

function passwordsOf({ password, logger }: Settings, world: World): Pick<Early, 'passwords' | 'hashFallback'> {
  let fallback: string | null = null
  const passwords = createPasswords({
    ...password,
    // A test hashes cheaply, and a thread takes longer to start than all its hashes.
    ...(world.testing && { threads: 0 }),
    // Flows measure the minimum response time by this clock. Under a test clock the two must agree.
    monotonic: world.monotonic,
    sleep,
    onFallback(reason) {
      fallback = reason
      const isRefused = process.permission?.has('worker') === false
      logger.warn({ event: 'hash_fallback', reason }, `${eventLoopHashing}${isRefused ? noThreads : threadsFail}`)
    },
    onUnreadable: (reason) =>
      logger.error(
        { event: 'hash_unreadable', reason },
        'Stored argon2id hashes need a package: npm install @node-rs/argon2',
      ),
  })
  return { passwords, hashFallback: () => fallback }
}
