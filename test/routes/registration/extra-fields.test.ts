import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import * as z3 from 'zod/v3'
import { ada, testAuth } from '../../support/auth.js'

const schema = z.object({
  company: z.string().min(2).describe('As on your invoices.'),
  seats: z.int().min(1),
  plan: z.enum(['free', 'team']).default('free'),
  terms: z.literal(true),
  news: z.boolean().default(false),
  born: z.coerce.date().optional(),
  site: z.url().optional(),
})

const typed = {
  company: 'Analytical "Engines"',
  seats: '12',
  plan: 'team',
  terms: 'true',
  born: '1815-12-10',
  site: '',
}
const onPage = { _checkboxes: 'terms,news' }

describe('the register page', () => {
  it('asks for the fields of the application', async () => {
    const { client } = await testAuth({ registration: { fields: schema } })
    const { text } = await client().open('/auth/register')
    expect(text).toContain('<input type="hidden" name="_checkboxes" value="terms,news">')
    expect(text).toMatch(
      /<label for="field-0">Company<\/label>\s*<input id="field-0" name="company" type="text" value="" minlength="2" required aria-describedby="field-0-hint">/,
    )
    expect(text).toContain('<p class="hint" id="field-0-hint">As on your invoices.</p>')
    expect(text).toMatch(/name="seats" type="number" value="" min="1" step="1" required>/)
    expect(text).toMatch(
      /<select id="field-2" name="plan">\s*<option value=""><\/option>\s*<option value="free" selected>free<\/option>/,
    )
    expect(text).toMatch(/name="terms" type="checkbox" value="true" required>\s*Terms<\/label>/)
    expect(text).toMatch(/name="news" type="checkbox" value="true">/)
    expect(text).toMatch(
      /<label for="field-5">Born <small>\(optional\)<\/small><\/label>\s*<input id="field-5" name="born" type="date"/,
    )
  })

  it('without such fields is as it was', async () => {
    const { client } = await testAuth()
    const { text } = await client().open('/auth/register')
    expect(text).not.toMatch(/_checkboxes|field-0/)
  })

  it('sends numbers, dates and ticks as the schema takes them', async () => {
    const { client, mailbox, auth } = await testAuth({ registration: { fields: schema } })
    const browser = client()
    const { url } = await browser.submit('/auth/register', { ...ada, ...typed, ...onPage })
    expect(url.pathname).toBe('/auth/verify-email')
    const mail = await mailbox.waitFor(ada.email)
    await browser.submit('/auth/verify-email', { code: mailbox.code(mail) })
    expect(await auth.users.findByEmail(ada.email)).toMatchObject({
      company: 'Analytical "Engines"',
      seats: 12,
      plan: 'team',
      terms: true,
      news: false,
      born: '1815-12-10T00:00:00.000Z',
    })
    expect(await auth.users.findByEmail(ada.email)).not.toHaveProperty('site')
  })

  it.each([
    ['zod 4', schema],
    ['zod 3', z3.object({ company: z3.string().min(2), seats: z3.number().int().min(1), terms: z3.literal(true) })],
  ])('marks the fields that %s refuses, and puts no typed text into the address', async (_, fields) => {
    const { client } = await testAuth({ registration: { fields } })
    const answer = await client().submit('/auth/register', { ...ada, company: 'x', seats: 'many', ...onPage })
    expect(answer.url.search).toBe('?error=invalid_request&fields=company%2Cseats%2Cterms')
    expect(answer.text).toMatch(/name="company"[^>]* aria-invalid="true"/)
    expect(answer.text).toMatch(/name="seats"[^>]* aria-invalid="true"/)
    expect(answer.text).toMatch(/name="terms"[^>]* aria-invalid="true"/)
    expect(answer.text).not.toMatch(/name="email"[^>]* aria-invalid/)
    expect(answer.text).toContain('Check this field.')
  })

  it('shows no text of the address, whatever it names', async () => {
    const { client } = await testAuth({ registration: { fields: schema } })
    const { text } = await client().open('/auth/register?error=invalid_request&fields=<b>call-us</b>,company')
    expect(text).not.toContain('call-us')
    expect(text).toMatch(/name="company"[^>]* aria-invalid="true"/)
  })
})

describe('the account page', () => {
  async function signedIn() {
    const world = await testAuth({ registration: { fields: schema } })
    const browser = world.client()
    await browser.signUp({ ...ada, company: 'Engines', seats: 3, terms: true, news: true, site: 'https://a.example/' })
    const user = () => world.auth.users.findByEmail(ada.email)
    return { browser, user }
  }

  it('shows the stored values', async () => {
    const { browser } = await signedIn()
    const { text } = await browser.open('/auth/account')
    expect(text).toMatch(/name="company" type="text" value="Engines"/)
    expect(text).toMatch(/name="seats" type="number" value="3"/)
    expect(text).toMatch(/name="news" type="checkbox" value="true" checked>/)
    expect(text).toContain('<option value="free" selected>free</option>')
  })

  it('changes them, unticks a checkbox and clears an optional field', async () => {
    const { browser, user } = await signedIn()
    const answer = await browser.submit('/auth/me', { _method: 'PATCH', name: 'Ada', ...typed, ...onPage, born: '' })
    expect(answer.url.search).toBe('?done=profile_changed')
    expect(await user()).toMatchObject({ name: 'Ada', seats: 12, plan: 'team', news: false })
    expect(await user()).not.toHaveProperty('site')
  })

  it('clears an optional field alone, and never one that the schema requires', async () => {
    const { browser, user } = await signedIn()
    await browser.submit('/auth/me', { _method: 'PATCH', site: '' })
    expect(await user()).not.toHaveProperty('site')
    const refused = await browser.submit('/auth/me', { _method: 'PATCH', company: '' })
    expect(refused.url.searchParams.get('fields')).toBe('company')
    expect(await user()).toMatchObject({ company: 'Engines', seats: 3, news: true })
  })

  it('leaves a checkbox alone that a form of the application does not have', async () => {
    const { browser, user } = await signedIn()
    await browser.submit('/auth/me', { _method: 'PATCH', name: 'Ada' })
    expect(await user()).toMatchObject({ name: 'Ada', news: true })
  })

  it('marks a field that is refused', async () => {
    const { browser } = await signedIn()
    const { text } = await browser.submit('/auth/me', { _method: 'PATCH', ...typed, ...onPage, seats: '0' })
    expect(text).toMatch(/name="seats"[^>]* aria-invalid="true"/)
    expect(text).toMatch(/name="company" type="text" value="Engines"/)
  })
})
