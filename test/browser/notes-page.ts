import type { BrowserContext, Locator, Page } from 'playwright-core'
import { expect } from 'vitest'

export const password = 'a difference engine of brass'

/** What a person can do on the demo's page and in its mailbox. */
export interface NotesPage {
  page: Page
  /** The page for those who are not signed in. */
  signInButton: Locator
  register(email: string, secret?: string): Promise<void>
  signIn(email: string, secret?: string): Promise<void>
  /** Clicks the link in the newest mail to that address, staying in this tab; the mail may still be under way. */
  openMail(email: string): Promise<void>
  /** Registers and confirms, all in this page. */
  signUp(email: string): Promise<void>
  /** Adds a note and waits until it stands in the list. */
  addNote(text: string): Promise<void>
  /** Tries to, as somebody does whose session has ended. */
  tryNote(text: string): Promise<void>
  notes(): Promise<string[]>
  says(text: string | RegExp): Promise<void>
}

/** Opens the demo in a new tab. */
export async function openNotes(context: BrowserContext, address: string, mailbox: string): Promise<NotesPage> {
  const page = await context.newPage()
  await page.goto(address)

  async function send(form: Locator, fields: Readonly<Record<string, string>>): Promise<void> {
    for (const [label, text] of Object.entries(fields)) await form.getByLabel(label).fill(text)
    await form.getByRole('button').click()
  }

  const notes: NotesPage = {
    page,
    signInButton: page.getByRole('button', { name: 'Sign in', exact: true }),
    register: (email, secret = password) => send(page.locator('#register'), { Email: email, Password: secret }),
    signIn: (email, secret = password) => send(page.locator('#sign-in'), { Email: email, Password: secret }),
    async openMail(email) {
      const mail = page.locator('article', { hasText: email })
      const link = mail.locator('a[href*="/verify-email?token="]').first()
      await expect.poll(() => page.goto(mailbox).then(() => link.count())).toBe(1)
      await link.evaluate((element) => element.removeAttribute('target'))
      await link.click()
      await page.waitForURL(/verify-email/)
    },
    async signUp(email) {
      await notes.register(email)
      await notes.says('Nearly done')
      await notes.openMail(email)
      await page.locator('button[type=submit]').click()
      await notes.says(email)
    },
    async addNote(text) {
      await notes.tryNote(text)
      await page.locator('#notes').getByText(text, { exact: true }).waitFor()
    },
    tryNote: (text) => send(page.locator('#add'), { 'New note': text }),
    notes: () => page.locator('#notes li').allTextContents(),
    says: (text) => page.getByText(text).first().waitFor(),
  }
  return notes
}
