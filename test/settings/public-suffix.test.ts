import { expect, test } from 'vitest'
import { isPublicSuffix, registrableDomain } from '../../src/settings/passkey-site.js'

test.each(['com', 'co.uk', 'com.au', 'or.jp', 'github.io', 'vercel.app'])('strangers have hosts below %s', (domain) => {
  expect(isPublicSuffix(domain)).toBe(true)
})

test.each(['example.com', 'example.co.uk', 'app.github.io', 'co.example', 'com.example.de', 'ne.ch', 'net.de'])(
  '%s has one owner',
  (domain) => {
    expect(isPublicSuffix(domain)).toBe(false)
  },
)

test.each([
  ['www.example.com', 'example.com'],
  ['WWW.Example.co.uk.', 'example.co.uk'],
  ['a.b.example.github.io', 'example.github.io'],
  ['localhost', 'localhost'],
  ['192.0.2.1', '192.0.2.1'],
  ['[2001:db8::1]', '[2001:db8::1]'],
])('%s is registered as %s', (hostname, domain) => {
  expect(registrableDomain(hostname)).toBe(domain)
})
