import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'vitest'
import { createTestClient } from '../../src/testing.js'
import type { Program } from './program.js'

/**
 * The main job over real HTTP, as a browser does it: register, read the mail on the mailbox page, confirm, call the
 * guarded API, refresh, sign out.
 *
 * @param guarded a path below `baseAPIRoutes` that answers a GET
 */
export async function mainJob(program: Program, baseUrl: string, guarded: string): Promise<void> {
  const [mailboxUrl] = await program.printed(/https?:\/\/\S+\/dev\/mailbox\?key=[\w-]+/)
  await mainJobAt({ baseUrl, guarded, mailboxUrl })
}

/** The same for a program that does not print the address of its mailbox page. */
export async function mainJobAt({
  baseUrl,
  guarded,
  mailboxUrl,
}: Record<'baseUrl' | 'guarded' | 'mailboxUrl', string>) {
  await listening(baseUrl)
  const client = createTestClient(baseUrl)
  const email = `ada-${randomUUID()}@example.com`
  const password = `difference engine ${randomUUID()}`

  expect((await client.get(guarded)).status).toBe(401)
  expect((await client.post('/auth/register', { email, password })).status).toBe(202)
  const first = await tokenInMailbox(mailboxUrl, email)
  expect((await client.post('/auth/login', { email, password })).body).toMatchObject({ code: 'email_not_verified' })

  // That sign-in has mailed again, and the first link is dead.
  const token = await tokenInMailbox(mailboxUrl, email, first)
  const confirmed = await client.post('/auth/verify-email', { token })
  expect(confirmed.body).toMatchObject({ user: { email, emailVerified: true } })
  expect((await client.get(guarded)).status).toBe(200)

  expect((await client.refresh()).status).toBe(200)
  expect((await client.get(guarded)).status).toBe(200)

  expect((await client.signOut()).status).toBe(204)
  expect((await client.get(guarded)).status).toBe(401)
  expect((await client.post('/auth/login', { email, password })).status).toBe(200)
  expect((await client.get(guarded)).status).toBe(200)
}

/** The mailbox is told of as soon as Latchkey is there, which is before the application listens. */
async function listening(url: string): Promise<void> {
  for (let tries = 1; ; tries += 1) {
    try {
      await fetch(url)
      return
    } catch (error) {
      if (tries === 600) throw error
      await sleep(50)
    }
  }
}

/** The token in the newest mail to that address, as the mailbox page shows it; waits for one that is not `former`. */
function tokenInMailbox(mailboxUrl: string, email: string, former?: string): Promise<string> {
  return foundInMailbox(mailboxUrl, email, /\/verify-email\?token(?:=|&#x3D;)([\w.-]+)/, former)
}

/** The code of the newest mail to that address, as the mailbox page of the program shows it; waits for the mail. */
export async function codeInMailbox(program: Program, email: string): Promise<string> {
  const [mailboxUrl] = await program.printed(/https?:\/\/\S+\/dev\/mailbox\?key=[\w-]+/)
  return codeAt(mailboxUrl, email)
}

/** The same for a program that does not print the address of its mailbox page. */
export function codeAt(mailboxUrl: string, email: string): Promise<string> {
  return foundInMailbox(mailboxUrl, email, /<code>(\d{6})<\/code>/)
}

async function foundInMailbox(mailboxUrl: string, email: string, pattern: RegExp, former?: string): Promise<string> {
  const deadline = Date.now() + 30_000
  while (Date.now() < deadline) {
    const response = await fetch(mailboxUrl)
    expect(response.status).toBe(200)
    const mails = (await response.text()).split('<article').filter((mail) => mail.includes(email))
    const found = mails.map((mail) => pattern.exec(mail)?.[1]).find((each) => each !== undefined && each !== former)
    if (found !== undefined) return found
    await sleep(50)
  }
  throw new Error('no such mail came to the mailbox page')
}
