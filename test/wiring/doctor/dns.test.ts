import { expect, test } from 'vitest'
import { createTxtRecords } from '../../../src/lib/runtime.js'
import { startDnsServer } from '../../support/dns-server.js'
import { diagnosed } from '../../support/doctor.js'

const from = 'Acme <hello@mail.acme.example>'
const dkim = { domainName: 'acme.example', keySelector: 's1', privateKey: 'unused' }
const transport = { host: '127.0.0.1', port: 9, dkim }
const good = {
  'mail.acme.example': ['other', 'v=spf1 include:_spf.provider.example -all'],
  '_dmarc.acme.example': ['v=DMARC1; p=reject'],
  's1._domainkey.acme.example': [`v=DKIM1; k=rsa; p=${'MIGf'.repeat(100)}`],
}

async function patient(records: Readonly<Record<string, readonly string[]>>) {
  const server = await startDnsServer(records)
  return { settings: { mail: { from, transport } }, world: { txt: createTxtRecords([server.address]) } }
}

test('a domain with all three records is fine; DMARC may stand at a parent', async () => {
  const healthy = await patient(good)
  for (const code of ['mail_spf', 'mail_dmarc', 'mail_dkim'])
    expect(await diagnosed(code, healthy)).toMatchObject([{ ok: true, skipped: null }])
})

test.each([
  ['mail_spf', 'mail.acme.example', 'mail.acme.example has no SPF record.'],
  [
    'mail_dmarc',
    '_dmarc.acme.example',
    '_dmarc.mail.acme.example has no DMARC record, and no domain above it has one.',
  ],
  ['mail_dkim', 's1._domainkey.acme.example', 's1._domainkey.acme.example has no DKIM record with a public key.'],
])('%s is found when %s has no record', async (code, name, finding) => {
  const broken = await patient(Object.fromEntries(Object.entries(good).filter(([known]) => known !== name)))
  expect(await diagnosed(code, broken)).toMatchObject([{ ok: false, level: 'warn', finding }])
})

test('two SPF records count as none, and a revoked DKIM key is no key', async () => {
  const broken = await patient({
    ...good,
    'mail.acme.example': ['v=spf1 -all', 'v=spf1 include:_spf.provider.example -all'],
    's1._domainkey.acme.example': ['v=DKIM1; p='],
  })
  expect(await diagnosed('mail_spf', broken)).toMatchObject([{ ok: false, cure: 'Join them into one.' }])
  expect(await diagnosed('mail_dkim', broken)).toMatchObject([{ ok: false }])
})

test('DNS that does not answer, a transport without a selector, and no mail at all are skipped', async () => {
  const world = { txt: () => Promise.reject(Object.assign(new Error('queryTxt ETIMEOUT'), { code: 'ETIMEOUT' })) }
  const skipped = { ok: true, skipped: 'DNS does not answer.' }
  expect(await diagnosed('mail_spf', { settings: { mail: { from, transport } }, world })).toMatchObject([skipped])
  const { world: answering } = await patient(good)
  const plain = { settings: { mail: { from, transport: 'smtp://127.0.0.1:9' } }, world: answering }
  expect(await diagnosed('mail_dkim', plain)).toMatchObject([
    { ok: true, skipped: 'The mail transport names no DKIM selector.' },
  ])
  expect(await diagnosed('mail_spf')).toMatchObject([{ ok: true, skipped: 'The setting mail is not given.' }])
})
