import { describe, expect, test } from 'vitest'
import { createTestMailbox, testSettings } from '../src/testing.js'

describe('the settings', () => {
  test('are complete, with other secrets every time', () => {
    const [one, other] = [testSettings(), testSettings()]
    expect(one).toMatchObject({ baseUrl: 'http://localhost:3000', database: 'sqlite::memory:', limits: false })
    const secrets = [one, other].flatMap((each) => [each.JWT_ACCESS_TOKEN_SECRET, each.JWT_REFRESH_TOKEN_SECRET])
    expect(new Set(secrets).size).toBe(4)
  })

  test('take overrides, and a mailbox for the mails', () => {
    const mailbox = createTestMailbox()
    const settings = testSettings({ mailbox, baseUrl: 'https://app.example.test', password: { minLength: 12 } })
    expect(settings).toMatchObject({ baseUrl: 'https://app.example.test', mail: { transport: mailbox.transport } })
    expect(settings.password).toEqual({ cost: 4, checkBreached: false, minLength: 12 })
    expect(settings).not.toHaveProperty('mailbox')
  })
})
