import type { MailboxView } from '../http/route.js'
import type { Keyring } from '../lib/keyring.js'
import type { RandomSource } from '../lib/random.js'
import type { World } from '../lib/runtime.js'
import type { Mailer } from '../mail/mailer.js'
import type { Passwords } from '../passwords/passwords.js'
import type { Settings } from '../settings.js'
import type { Templates } from '../templates/templates.js'

/** What is made at once, before the store is open. */
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
