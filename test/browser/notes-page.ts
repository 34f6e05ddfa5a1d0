import type { BrowserContext, Locator, Page } from 'playwright-core'
import { expect } from 'vitest'

export const password = 'a difference engine of brass'

/** What a person can do on the demo's page and in the mailbox. */
export interface NotesPage {
  page: Page
  /** Visible while no user is signed in. */
  signInButton: Locator
  register(email: string, secret?: string): Promise<void>
  signIn(email: string, secret?: string): Promise<void>
  /** Opens the link of the newest mail to that address in this tab. Waits for the mail. */
  openMail(email: string): Promise<void>
  /** Registers and confirms, all in this page. */
  signUp(email: string): Promise<void>
  /** Adds a note and waits until it stands in the list. */
  addNote(text: string): Promise<void>
  /** Sends the form, without waiting for the list: the session may have ended. */
  tryNote(text: string): Promise<void>
  notes(): Promise<string[]>
  says(text: string | RegExp): Promise<void>
}

/** Opens the demo in a new tab. */
export async function openNotes(context: BrowserContext, address: string): Promise<NotesPage> {
  const page = await context.newPage()
  await page.goto(address)

  async function send(form: Locator, fields: Readonly<Record<string, string>>): Promise<void> {
    for (const [label, text] of Object.entries(fields)) await form.getByLabel(label).fill(text)
    await form.locator('button[type=submit]').click()
  }

  const notes: NotesPage = {
    page,
    signInButton: page.getByRole('button', { name: 'Sign in', exact: true }),
    register: (email, secret = password) => send(page.locator('#register'), { Email: email, Password: secret }),
    signIn: (email, secret = password) => send(page.locator('#sign-in'), { Email: email, Password: secret }),
    async openMail(email) {
      const mail = page.locator('article', { hasText: email })
      const link = mail.locator('a[href*="/verify-email?token="]').first()
      await expect.poll(() => page.goto(`${address}/mailbox`).then(() => link.count())).toBe(1)
      await page.goto((await link.getAttribute('href')) ?? '')
    },
    async signUp(email) {
      await notes.register(email)
      await notes.says('We sent a mail to')
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
    says: (text) => page.getByText(text).filter({ visible: true }).first().waitFor(),
  }
  return notes
}
