import { readFields, textIn } from '../lib/json-fields.js'
import type { Keyring } from '../lib/keyring.js'
import type { OutboxMail } from '../model/outbox-mail.js'

const purpose = 'outbox'

/** Seals the values of a mail's template, so that links and codes never reach the store in clear, bound to their row. */
export function sealValues(
  keyring: Pick<Keyring, 'seal'>,
  id: string,
  values: Readonly<Record<string, string>>,
): string {
  return keyring.seal(purpose, id, JSON.stringify(values))
}

/** The values inside; null when their key is gone, the row was changed, or a value is no text. */
export function openValues(
  keyring: Pick<Keyring, 'open'>,
  { id, sealedValues }: Pick<OutboxMail, 'id' | 'sealedValues'>,
): Readonly<Record<string, string>> | null {
  return readFields(keyring.open(purpose, id, sealedValues), (fields) =>
    Object.fromEntries(Object.keys(fields).map((name) => [name, textIn(fields, name)])),
  )
}
