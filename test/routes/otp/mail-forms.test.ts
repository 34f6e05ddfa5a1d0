import { describe, expect, it } from 'vitest'
import type { LatchkeySettings } from '../../../src/index.js'
import { ada, sharedSettings, type TestAuth, testAuth } from '../../support/auth.js'

const languages = ['en', 'de', 'es', 'fr', 'no', 'ja'] as const
const newKey = 'qX7vN2mK9pR4tY6wZ8bC1dF3gH5jL0sA'
const sixDigits = /(?<!\d)\d{6}(?!\d)/

async function withAda(settings: Partial<LatchkeySettings> = {}): Promise<TestAuth> {
  const world = await testAuth(settings)
  await world.auth.users.create({ ...ada, emailVerified: true })
  return world
}

/** A browser that asked, and its mail. */
async function asked({ client, mailbox }: TestAuth) {
  const browser = client()
  const page = await browser.submit('/auth/otp', { email: ada.email })
  return { browser, page, mail: await mailbox.waitFor(ada.email) }
}

const withoutLinks = (part: string) => part.replaceAll(/https?:\/\/[^\s"<]+/g, '').replaceAll(/#[\da-f]{6}\b/gi, '')

describe('the mail with otp.mail: code', () => {
  it.each(languages)('has a code and no link, and says that alone, in %s', async (locale) => {
    const world = await withAda({ otp: { mail: 'code' }, locale })
    const { browser, mail } = await asked(world)
    expect(mail.text).not.toMatch(/https?:|\{|\/otp/)
    expect(mail.html).not.toMatch(/\/otp\?token|href="[^"]*\/auth/)
    expect(mail.html).toContain(world.mailbox.code(mail))
    const answer = await browser.post('/auth/otp/verify', { code: world.mailbox.code(mail) })
    expect(answer.status).toBe(200)
  })
})

describe('the mail with otp.mail: link', () => {
  it.each(languages)('has a link and no code, in %s', async (locale) => {
    const world = await withAda({ otp: { mail: 'link' }, locale })
    const { browser, mail } = await asked(world)
    for (const part of [mail.subject, mail.text, mail.html]) expect(withoutLinks(part ?? '')).not.toMatch(sixDigits)
    expect(mail.html).toContain(world.mailbox.link(mail).replace('=', '&#x3D;'))
    expect((await browser.post('/auth/otp/verify', { token: world.mailbox.token(mail) })).status).toBe(200)
  })

  it.each(languages)('has texts of its own, and so have its pages, in %s', async (locale) => {
    const both = await withAda({ locale })
    const linkOnly = await withAda({ otp: { mail: 'link' }, locale })
    const [one, other] = [await asked(both), await asked(linkOnly)]
    expect(other.mail.subject).not.toBe(one.mail.subject)
    for (const path of ['/auth/otp', '/auth/login']) {
      const pages = await Promise.all([both, linkOnly].map(async ({ client }) => (await client().open(path)).text))
      expect(pages[0], path).not.toBe(pages[1])
    }
  })

  it('leaves nothing to guess: no code signs in', async () => {
    const world = await withAda({ otp: { mail: 'link', tries: 10 } })
    const { browser } = await asked(world)
    for (const code of ['000000', '', 'null', '123456']) {
      const { status } = await browser.post('/auth/otp/verify', { email: ada.email, code })
      expect(status).toBe(400)
    }
  })

  it('has a page that waits, says where the link belongs, and takes no code', async () => {
    const world = await withAda({ otp: { mail: 'link' } })
    const { page } = await asked(world)
    expect(page.text).toContain('a mail with a link is on its way')
    expect(page.text).toContain('Open the link in this browser. No other browser can sign in with it.')
    expect(page.text).not.toContain('name="code"')
    expect(page.text).not.toContain('otp/verify')
  })

  it('answers an address without an account the same', async () => {
    const world = await withAda({ otp: { mail: 'link' } })
    const { page } = await asked(world)
    const stranger = await world.client().submit('/auth/otp', { email: 'stranger@example.test' })
    expect(stranger.text).toBe(page.text)
  })
})

describe('a mailed link in a browser that did not ask', () => {
  const texts = {
    en: ['Continue where you asked', 'Type this code there:', 'Open its link there'],
    de: ['Dort weitermachen', 'Geben Sie dort diesen Code ein:', 'Öffnen Sie den Link dort'],
    es: ['Continúa donde lo pediste', 'Escribe allí este código:', 'Abre allí el enlace'],
    fr: ['Continuez là où', 'Saisissez-y ce code', 'Ouvrez-y le lien'],
    no: ['Fortsett der du ba om', 'Skriv inn denne koden der:', 'Åpne lenken der'],
    ja: ['要求したブラウザーで続けてください', '次のコードを入力してください', 'リンクを開いてください'],
  } as const

  it.each(languages)('shows the code for typing where it was asked for, in %s', async (locale) => {
    const world = await withAda({ locale })
    const { browser, mail } = await asked(world)
    const code = world.mailbox.code(mail)
    const opened = await world.client().open(world.mailbox.link(mail))
    expect(opened.status).toBe(200)
    for (const text of texts[locale].slice(0, 2)) expect(opened.text).toContain(text)
    expect(opened.text).toContain(`translate="no">${code}</p>`)
    expect(opened.text).not.toContain(world.mailbox.token(mail))
    expect(opened.text).not.toContain('otp/verify')
    expect(opened.headers.get('cache-control')).toBe('no-store')
    expect(opened.headers.get('referrer-policy')).toBe('strict-origin')
    expect((await browser.post('/auth/otp/verify', { code })).status).toBe(200)
  })

  it.each(languages)('with otp.mail: link, shows no code and says where to open it, in %s', async (locale) => {
    const world = await withAda({ otp: { mail: 'link' }, locale })
    const { browser, mail } = await asked(world)
    const opened = await world.client().open(world.mailbox.link(mail))
    expect(opened.text).toContain(texts[locale][0])
    expect(opened.text).toContain(texts[locale][2])
    expect(opened.text).not.toMatch(/<p class="shown-code/)
    expect((await browser.post('/auth/otp/verify', { token: world.mailbox.token(mail) })).status).toBe(200)
  })

  it('is read the same with the handle of another request', async () => {
    const world = await withAda()
    const { mail } = await asked(world)
    const other = world.client()
    await other.submit('/auth/otp', { email: 'stranger@example.test' })
    expect((await other.open(world.mailbox.link(mail))).text).toContain(world.mailbox.code(mail))
  })

  it('shows no code that takes no more guesses', async () => {
    const world = await withAda({ otp: { tries: 1 } })
    const { browser, mail } = await asked(world)
    await browser.post('/auth/otp/verify', { code: 'never' })
    const opened = await world.client().open(world.mailbox.link(mail))
    expect(opened.text).toContain('Open its link there')
    expect(opened.text).not.toContain(world.mailbox.code(mail))
    expect((await browser.post('/auth/otp/verify', { token: world.mailbox.token(mail) })).status).toBe(200)
  })

  it('shows the code also after the encryption key was rotated, and not one of another length', async () => {
    const shared = sharedSettings()
    const before = await withAda(shared)
    const { mail } = await asked(before)
    const link = before.mailbox.link(mail)

    const rotated = await testAuth({ ...shared, encryptionKey: [newKey, String(shared.JWT_REFRESH_TOKEN_SECRET)] })
    expect((await rotated.client().open(link)).text).toContain(before.mailbox.code(mail))
    const longer = await testAuth({ ...shared, otp: { length: 8 } })
    const opened = await longer.client().open(link)
    expect(opened.text).toContain('Open its link there')
    expect(opened.text).not.toMatch(/<p class="shown-code/)
  })
})

describe('a mailed link that is used up, replaced, expired or unknown', () => {
  it('is refused as soon as it is opened, and the page asks for the address or the newer code', async () => {
    const world = await withAda()
    const { browser, mail } = await asked(world)
    const link = world.mailbox.link(mail)
    await browser.post('/auth/otp', { email: ada.email })
    const replaced = await browser.open(link)
    expect(replaced.text).toContain('This link is no longer valid')
    expect(replaced.text).toContain('name="code"')

    for (const url of [link, '/auth/otp?token=unknown']) {
      const elsewhere = await world.client().open(url)
      expect(elsewhere.text).toContain('This link is no longer valid')
      expect(elsewhere.text).toContain('name="email"')
    }
  })

  it('is over after its lifetime', async () => {
    const world = await withAda()
    const { browser, mail } = await asked(world)
    await world.runtime.clock.advance('10m')
    for (const by of [browser, world.client()]) {
      const opened = await by.open(world.mailbox.link(mail))
      expect(opened.text).toContain('This link is no longer valid')
      expect(opened.text).not.toContain(world.mailbox.code(mail))
    }
  })
})
