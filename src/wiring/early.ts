import type { MailboxView } from '../http/route.js'
import { createKeyring, type Keyring } from '../lib/keyring.js'
import { createRandom, type RandomSource } from '../lib/random.js'
import { createWorld, type Runtime, sleep, type World } from '../lib/runtime.js'
import type { Mailer } from '../mail/mailer.js'
import { createPasswords } from '../passwords/hashed-passwords.js'
import type { Passwords } from '../passwords/passwords.js'
import type { Settings } from '../settings.js'
import { createTemplates } from '../templates/handlebars.js'
import type { Templates } from '../templates/templates.js'
import { createDelivery } from './delivery.js'
import { warnLeftOut } from './not-yet.js'
import { requirePackages } from './packages.js'
import { readSettings, type SettingsInput } from './settings.js'

/** The parts that exist at once, before the store is open. */
export interface Early {
  settings: Settings
  world: World
  keyring: Keyring
  random: RandomSource
  templates: Templates
  passwords: Passwords
  mailer: Mailer
  mailbox: MailboxView | null
}

/** @throws {SettingsError} with every fault of the settings at once, or when a package is missing */
export function createEarly(input: SettingsInput, runtime: Runtime | undefined): Early {
  const world = createWorld(runtime)
  const settings = readSettings(input, world)
  warnLeftOut(settings)
  requirePackages(settings)
  const random = createRandom()
  const templates = createTemplates(settings, (names) => {
    const fields = { event: 'labels_missing', locale: settings.locale, count: names.length, names }
    settings.logger.warn(fields, 'Some texts of this language are missing and show in English.')
  })
  return {
    settings,
    world,
    random,
    templates,
    keyring: createKeyring(settings.encryptionKeys),
    passwords: passwordsOf(settings, world),
    ...createDelivery(settings, { random, world, templates }),
  }
}

function passwordsOf({ password, logger }: Settings, world: World): Passwords {
  return createPasswords({
    ...password,
    // Flows measure the minimum response time by this clock. Under a test clock the two must agree.
    monotonic: world.monotonic,
    sleep,
    onFallback: (reason) => logger.warn({ event: 'hash_fallback', reason }, 'Passwords are hashed on the event loop.'),
    onUnreadable: (reason) =>
      logger.error({ event: 'hash_unreadable', reason }, 'Stored argon2id hashes need @node-rs/argon2.'),
  })
}
