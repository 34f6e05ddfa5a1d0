import { expect, test } from 'vitest'
import { createAuth } from '../../../src/index.js'
import { sharedSettings } from '../../support/auth.js'
import { diagnosed } from '../../support/doctor.js'

const production = { baseUrl: 'https://app.example', mail: { from: 'a@app.example', transport: 'smtp://127.0.0.1:9' } }
const viaProxy = { asker: { forwardingHeader: 'x-forwarded-for' } }

test('a proxy in front of an application that trusts none is found by the request of the administrator', async () => {
  const patient = { place: 'S' as const, settings: production, context: viaProxy }
  expect(await diagnosed('proxy_untrusted', patient)).toMatchObject([
    { ok: false, level: 'error', finding: expect.stringContaining('the header x-forwarded-for') },
  ])
  const trusting = { ...production, trustedProxies: ['10.0.0.0/8'] }
  expect(await diagnosed('proxy_untrusted', { ...patient, settings: trusting })).toMatchObject([{ ok: true }])
  const direct = { asker: { forwardingHeader: null } }
  expect(await diagnosed('proxy_untrusted', { ...patient, context: direct })).toMatchObject([{ ok: true }])
})

test('a stored allow-list that a count of proxies closes is found', async () => {
  const shared = sharedSettings()
  const before = createAuth({ ...shared, ...production, trustedProxies: ['10.0.0.0/8'] })
  await before.access.allow('203.0.113.7')
  await before.close()

  const counting = { ...shared, ...production, trustedProxies: 1 }
  expect(await diagnosed('allow_list_closed', { settings: counting })).toMatchObject([
    { ok: false, level: 'error', finding: 'The allow-list has 1 entry, and trustedProxies is the count 1.' },
  ])
  const named = { ...counting, trustedProxies: ['10.0.0.0/8'] }
  expect(await diagnosed('allow_list_closed', { settings: named })).toMatchObject([{ ok: true }])
})

test('without an allow-list a count of proxies closes nothing', async () => {
  const settings = { ...production, trustedProxies: 1 }
  expect(await diagnosed('allow_list_closed', { settings })).toMatchObject([{ ok: true, skipped: null }])
})
