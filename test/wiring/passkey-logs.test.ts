import { expect, test } from 'vitest'
import { sharedSettings, testAuth } from '../support/auth.js'
import { withPasskey } from '../support/passkey-browser.js'

interface Line {
  event?: string
}

/** A logger that keeps the lines of one event. */
function linesOf(event: string) {
  const lines: unknown[] = []
  const keep = (fields: Line, sentence: string) => {
    if (fields.event === event) lines.push([fields, sentence])
  }
  return { lines, logger: { warn: keep, error: keep } }
}

test('each start counts the passkeys that were made for another RP id', async () => {
  const shared = sharedSettings()
  const { runtime } = await withPasskey(shared)
  const { lines, logger } = linesOf('passkeys_unreachable')
  await testAuth({ ...shared, logger }, runtime)
  expect(lines).toEqual([])
  await testAuth({ ...shared, logger, baseUrl: 'https://app.example.test' }, runtime)
  const fields = { event: 'passkeys_unreachable', rpId: 'app.example.test', count: 1 }
  expect(lines).toEqual([[fields, expect.stringContaining('passkeys.rpId')]])
})

test('passkeys that are off count none', async () => {
  const shared = sharedSettings()
  const { runtime } = await withPasskey(shared)
  const { lines, logger } = linesOf('passkeys_unreachable')
  await testAuth({ ...shared, logger, baseUrl: 'https://app.example.test', passkeys: { enabled: false } }, runtime)
  expect(lines).toEqual([])
})

test('at an IP address, the log says why passkeys are off', async () => {
  const { lines, logger } = linesOf('passkeys_off')
  await testAuth({ logger, baseUrl: 'http://127.0.0.1:3000' })
  const fields = { event: 'passkeys_off', origin: 'http://127.0.0.1:3000' }
  expect(lines).toEqual([[fields, expect.stringContaining('http://localhost')]])
})

test.each([
  ['off by setting', { baseUrl: 'http://127.0.0.1:3000', passkeys: { enabled: false } }],
  ['at a host', { baseUrl: 'http://localhost:3000' }],
])('%s, it says nothing', async (_, settings) => {
  const { lines, logger } = linesOf('passkeys_off')
  await testAuth({ ...settings, logger })
  expect(lines).toEqual([])
})
