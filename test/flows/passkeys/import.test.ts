import { describe, expect, test } from 'vitest'
import { importAccounts } from '../../../src/flows/control/import-accounts.js'
import { exportAccounts } from '../../../src/flows/owner/export-accounts.js'
import type { ImportedAccount, ImportedPasskey } from '../../../src/index.js'
import { ada } from '../../support/auth.js'
import { type CoseName, coseKey } from '../../support/authenticator/cose.js'
import { type Authenticator, createAuthenticator } from '../../support/authenticator.js'
import { type LiveWorld, liveWorld } from '../../support/live.js'
import { addPasskey, origin, passkeyLogin } from '../../support/passkey-browser.js'

const visitor = { ip: '192.0.2.1', userAgent: 'test', actor: null }

const importInto = ({ ports }: LiveWorld, ...records: unknown[]) => importAccounts(ports, { records, visitor })

async function exported({ ports }: LiveWorld): Promise<ImportedAccount[]> {
  const records: ImportedAccount[] = []
  for await (const record of exportAccounts(ports, { visitor })) records.push(record)
  return JSON.parse(JSON.stringify(records))
}

/** What another system has kept of a passkey of the authenticator. */
function registered(device: Authenticator, own: Partial<ImportedPasskey> = {}): ImportedPasskey {
  const challenge = Buffer.from('challenge').toString('base64url')
  const user = { id: Buffer.from('of the other system').toString('base64url'), name: 'ada', displayName: 'Ada' }
  device.register({ challenge, user, rp: { id: 'localhost', name: 'Other' }, pubKeyCredParams: [] })
  const held = device.passkeys.at(-1)
  if (!held) throw new Error('The authenticator holds no passkey.')
  const publicKey = held.key.publicKey.toString('base64')
  return { credentialId: held.id, publicKey, synced: true, userHandle: held.userHandle, ...own }
}

const account = { email: ada.email, emailVerified: true }

describe('passkeys that are taken over', () => {
  test('go from one Latchkey to the next by an export, and sign in there', async () => {
    const first = await liveWorld()
    const browser = first.client()
    await browser.signUp(ada)
    const device = createAuthenticator({ origin, synced: false })
    await addPasskey(browser, device, { name: 'Key ring' })
    await passkeyLogin(first.client(), device)
    const records = await exported(first)
    expect(records).toMatchObject([
      {
        email: ada.email,
        passkeys: [
          { name: 'Key ring', rpId: 'localhost', synced: false, signCount: 1, lastUsedAt: expect.stringMatching(/Z$/) },
        ],
      },
    ])

    const second = await liveWorld()
    expect(await importInto(second, ...records)).toMatchObject({ created: 1, failed: 0 })
    expect(await exported(second)).toEqual(records)
    const { status, body } = await passkeyLogin(second.client(), device)
    expect([status, body]).toMatchObject([200, { user: { email: ada.email, twoFactor: false } }])
  })

  test('sign in by their own handle, or by any where the former system kept none', async () => {
    const world = await liveWorld()
    const [known, unknown] = [createAuthenticator({ origin }), createAuthenticator({ origin })]
    const passkeys = [registered(known), registered(unknown, { userHandle: null })]
    expect(await importInto(world, { ...account, passkeys })).toMatchObject({ created: 1 })
    for (const device of [known, unknown]) {
      expect((await passkeyLogin(world.client(), device)).status).toBe(200)
      expect((await passkeyLogin(world.client(), device, { userHandle: null })).status).toBe(401)
    }
    const other = { userHandle: Buffer.from('another user').toString('base64url') }
    expect((await passkeyLogin(world.client(), known, other)).status).toBe(401)
    expect((await passkeyLogin(world.client(), unknown, other)).status).toBe(200)
  })

  test.each<CoseName>(['ES256', 'EdDSA', 'RS256'])('sign in with a key of %s', async (algorithm) => {
    const world = await liveWorld()
    const device = createAuthenticator({ origin, algorithm })
    expect(await importInto(world, { ...account, passkeys: [registered(device)] })).toMatchObject({ created: 1 })
    expect((await passkeyLogin(world.client(), device)).status).toBe(200)
  })

  test('keep their counter, and do not sign in where it goes back', async () => {
    const world = await liveWorld()
    const device = createAuthenticator({ origin, synced: false })
    const passkeys = [registered(device, { synced: false, signCount: 7 })]
    await importInto(world, { ...account, passkeys })
    expect((await passkeyLogin(world.client(), device)).status).toBe(401)
    // A suspended passkey may be a copy, so it does not move on.
    expect(await exported(world)).toMatchObject([{ passkeys: [] }])
  })

  test('are listed, and made for this site unless they say another one', async () => {
    const world = await liveWorld()
    const device = createAuthenticator({ origin })
    const passkeys = [
      registered(device, { createdAt: '2024-05-06T07:08:09Z', aaguid: 'BADA5566-A7AA-401F-BD96-45619A55120D' }),
      registered(device, { rpId: 'old.example.com', createdAt: '2023-05-06T07:08:09Z', name: ' Phone ' }),
    ]
    await importInto(world, { ...account, passkeys, createdAt: '2022-05-06T07:08:09Z' })
    const user = await world.ports.users.findByEmail(ada.email)
    expect(await world.ports.passkeys.list(user?.id ?? '')).toMatchObject([
      { rpId: 'old.example.com', name: 'Phone', backedUp: true, transports: [] },
      { rpId: 'localhost', name: '1Password', aaguid: 'bada5566-a7aa-401f-bd96-45619a55120d' },
    ])
    expect(user?.factors).toHaveLength(2)
  })

  test('fall with the first proof of an address that nobody has confirmed', async () => {
    const world = await liveWorld()
    const device = createAuthenticator({ origin })
    await importInto(world, { email: ada.email, passkeys: [registered(device)] })
    expect((await passkeyLogin(world.client(), device)).body).toMatchObject({ code: 'email_not_verified' })
    const browser = world.client()
    await browser.post('/auth/otp', { email: ada.email })
    const code = world.mailbox.code(await world.mailbox.waitFor(ada.email))
    expect((await browser.post('/auth/otp/verify', { email: ada.email, code })).status).toBe(200)
    expect((await passkeyLogin(world.client(), device)).body).toMatchObject({ code: 'invalid_passkey', unknown: true })
  })

  test('of another account make the record fail, and nothing of it is kept', async () => {
    const world = await liveWorld()
    const device = createAuthenticator({ origin })
    const taken = registered(device)
    const grace = { email: 'grace@example.com', emailVerified: true, passkeys: [registered(device), taken] }
    const report = await importInto(world, { ...account, passkeys: [taken] }, grace, { ...account, passkeys: [taken] })
    expect(report.items).toMatchObject([
      { status: 'created' },
      { status: 'failed', code: 'passkey_taken', path: 'passkeys[1]' },
      { status: 'skipped', code: 'email_taken' },
    ])
    expect(await world.ports.users.findByEmail('grace@example.com')).toBeNull()
  })

  test('need their domain while passkeys are off', async () => {
    const world = await liveWorld({ passkeys: { enabled: false } })
    const device = createAuthenticator({ origin })
    const report = await importInto(
      world,
      { ...account, passkeys: [registered(device)] },
      { ...account, passkeys: [registered(device, { rpId: 'localhost' })] },
    )
    expect(report.items).toMatchObject([{ status: 'failed', path: 'passkeys[0].rpId' }, { status: 'created' }])
  })
})

describe('a passkey with a fault makes the record fail with its path', () => {
  const device = createAuthenticator({ origin })
  const es256 = registered(device)
  /** A point that is not on the curve. */
  const key = Buffer.from(es256.publicKey, 'base64')
  const noPoint = key.fill(1, key.length - 8).toString('base64')
  const faults: [string, unknown, string][] = [
    ['no list', {}, 'passkeys'],
    ['no object', [7], 'passkeys[0]'],
    ['an unknown property', [{ ...es256, counter: 1 }], 'passkeys[0].counter'],
    ['no credential', [{ ...es256, credentialId: undefined }], 'passkeys[0].credentialId'],
    ['a credential that is no base64', [{ ...es256, credentialId: 'a b' }], 'passkeys[0].credentialId'],
    ['a long credential', [{ ...es256, credentialId: 'A'.repeat(1_366) }], 'passkeys[0].credentialId'],
    ['one credential twice', [es256, es256], 'passkeys[1].credentialId'],
    ['no key', [{ ...es256, publicKey: 'AAAA' }], 'passkeys[0].publicKey'],
    ['a point off the curve', [{ ...es256, publicKey: noPoint }], 'passkeys[0].publicKey'],
    ['a key of another algorithm', [{ ...es256, publicKey: keyThatSays(-35) }], 'passkeys[0].publicKey'],
    ['nothing of synchronising', [{ ...es256, synced: undefined }], 'passkeys[0].synced'],
    ['a contradiction', [{ ...es256, synced: false, backedUp: true }], 'passkeys[0].backedUp'],
    ['an empty handle', [{ ...es256, userHandle: '' }], 'passkeys[0].userHandle'],
    ['a long handle', [{ ...es256, userHandle: 'A'.repeat(88) }], 'passkeys[0].userHandle'],
    ['a broken counter', [{ ...es256, signCount: -1 }], 'passkeys[0].signCount'],
    ['a counter of 33 bits', [{ ...es256, signCount: 2 ** 32 }], 'passkeys[0].signCount'],
    ['a URL for a domain', [{ ...es256, rpId: 'https://example.com' }], 'passkeys[0].rpId'],
    ['transports in one text', [{ ...es256, transports: 'usb,nfc' }], 'passkeys[0].transports'],
    ['a model that is no UUID', [{ ...es256, aaguid: 'x' }], 'passkeys[0].aaguid'],
    ['a name of two lines', [{ ...es256, name: 'a\nb' }], 'passkeys[0].name'],
    ['a time to come', [{ ...es256, createdAt: '2999-01-01' }], 'passkeys[0].createdAt'],
    ['a use to come', [{ ...es256, lastUsedAt: '2999-01-01' }], 'passkeys[0].lastUsedAt'],
  ]

  test.each(faults)('%s', async (_, passkeys, path) => {
    const world = await liveWorld()
    expect((await importInto(world, { ...account, passkeys })).items).toMatchObject([
      { status: 'failed', code: 'invalid_request', path },
    ])
    expect(await world.ports.users.findByEmail(ada.email)).toBeNull()
  })

  test('more than a user may have', async () => {
    const world = await liveWorld({ passkeys: { max: 2 } })
    const passkeys = [1, 2, 3].map(() => registered(createAuthenticator({ origin })))
    expect((await importInto(world, { ...account, passkeys })).items).toMatchObject([
      { status: 'failed', code: 'passkey_limit' },
    ])
  })
})

function keyThatSays(algorithm: number): string {
  return coseKey('ES256', algorithm).publicKey.toString('base64')
}
