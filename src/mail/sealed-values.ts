import type { Keyring } from '../lib/keyring.js'
import type { OutboxMail } from '../model/outbox-mail.js'

const purpose = 'outbox'

/**
 * Seals what a mail's template is given. Links and codes never reach the store in the clear, and they are bound to
 * their row: moved to another one they are worth nothing.
 */
export function sealValues(
  keyring: Pick<Keyring, 'seal'>,
  id: string,
  values: Readonly<Record<string, string>>,
): string {
  return keyring.seal(purpose, id, JSON.stringify(values))
}

/** The values inside; null when their key is gone or the row was changed. */
export function openValues(
  keyring: Pick<Keyring, 'open'>,
  { id, sealedValues }: Pick<OutboxMail, 'id' | 'sealedValues'>,
): Readonly<Record<string, unknown>> | null {
  const text = keyring.open(purpose, id, sealedValues)
  const values: unknown = text === null ? null : JSON.parse(text)
  return typeof values === 'object' && values !== null ? { ...values } : null
}
