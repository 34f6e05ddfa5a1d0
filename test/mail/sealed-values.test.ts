import { expect, test } from 'vitest'
import { createKeyring } from '../../src/lib/keyring.js'
import { openValues, sealValues } from '../../src/mail/outbox-rows.js'

const keyring = createKeyring(['sealed-values-key-0123456789abcdefghij'])

test('values come back for the mail that they were sealed for', () => {
  const values = { name: 'Ada', code: '048213' }
  const sealedValues = sealValues(keyring, 'mail-1', values)
  expect(openValues(keyring, { id: 'mail-1', sealedValues })).toEqual(values)
  expect(openValues(keyring, { id: 'mail-2', sealedValues })).toBeNull()
})

test.each(['no JSON', 'null', '[]', '"text"', '{"code":48213}', '{"url":{}}'])(
  'a body that holds %s is no body',
  (text) => {
    const sealedValues = keyring.seal('outbox', 'mail-1', text)
    expect(openValues(keyring, { id: 'mail-1', sealedValues })).toBeNull()
  },
)
