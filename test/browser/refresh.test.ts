import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import { fileURLToPath } from 'node:url'
import express, { type Request } from 'express'
import type { Browser, BrowserContext } from 'playwright-core'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { type Auth, init } from '../../src/index.js'
import { createTestClock, createTestRuntime, type TestClock, testSettings } from '../../src/testing.js'
import { freePort } from '../support/program.js'
import { collectFaults, isChromiumMissing, launchChromium } from './chromium.js'
import { type NotesPage, openNotes } from './notes-page.js'

/** The demo's page over a server whose clock the tests hold, so that tokens expire at once. */
describe.skipIf(isChromiumMissing())('refreshing in Chromium', () => {
  let browser: Browser
  let laptop: BrowserContext
  let faults: string[]
  let server: Server
  let auth: Auth
  let clock: TestClock
  let address: string
  /** While true, refreshes are done and their answers lost. */
  let losingAnswers = false

  beforeAll(async () => {
    browser = await launchChromium()
    const port = await freePort()
    address = `http://localhost:${port}`
    // Chromium's clock is the real one.
    clock = createTestClock(Date.now())
    const app = express()
    const settings = testSettings({ baseUrl: address, registration: { emailVerification: 'optional' } })
    auth = init(app, settings, createTestRuntime({ clock }))
    serveNotes(app)
    server = createServer((request, response) => {
      if (losingAnswers && request.url === '/auth/refresh') response.end = () => response.destroy()
      app(request, response)
    }).listen(port, 'localhost')
    await once(server, 'listening')
  })

  afterAll(async () => {
    await browser?.close()
    server?.close()
    await auth?.close()
  })

  beforeEach(async () => {
    laptop = await browser.newContext()
    faults = collectFaults(laptop)
  })

  afterEach(async () => {
    await laptop.close()
    expect(faults).toEqual([])
  })

  const open = (context: BrowserContext) => openNotes(context, address)

  test('two tabs whose token expired refresh at once, again and again, and neither is signed out', async () => {
    const first = await signedUp('two-tabs@example.com')
    const second = await open(laptop)
    await second.says('two-tabs@example.com')
    const statuses: number[] = []
    laptop.on('response', (response) => {
      if (response.url() === `${address}/auth/refresh`) statuses.push(response.status())
    })

    const refreshTokens = new Set<string>()
    for (const round of ['one', 'two', 'three', 'four']) {
      await clock.advance('15m')
      await Promise.all([first.addNote(`first ${round}`), second.addNote(`second ${round}`)])
      refreshTokens.add(await cookie('refresh-token'))
    }

    expect(statuses.length).toBeGreaterThanOrEqual(4)
    expect(new Set(statuses)).toEqual(new Set([200]))
    expect(refreshTokens.size).toBe(4)
    await first.page.reload()
    await first.says('first four')
    expect(await first.notes()).toHaveLength(8)
  })

  test('a tab whose access cookie has run out refreshes too', async () => {
    const visitor = await signedUp('cookie-gone@example.com')
    await laptop.clearCookies({ name: 'access-token' })
    await visitor.addNote('Still here')
  })

  test('a lost answer to a refresh does not sign the user out', async () => {
    const visitor = await signedUp('lost-answer@example.com')
    const before = await cookie('refresh-token')
    await clock.advance('15m')

    losingAnswers = true
    await visitor.tryNote('In the tunnel')
    await visitor.says('The server did not answer.')
    losingAnswers = false
    expect(await cookie('refresh-token')).toBe(before)

    await clock.advance('1h')
    // After a failure the client asks for no refresh for a second, so the user may have to press the button again.
    const sent = async () => {
      await visitor.tryNote('Out of the tunnel')
      return visitor.notes()
    }
    await expect.poll(sent, { interval: 500, timeout: 20_000 }).toContain('Out of the tunnel')
    expect(await cookie('refresh-token')).not.toBe(before)
    expect(new Set(await visitor.notes())).toEqual(new Set(['Out of the tunnel']))
  })

  test('a stolen refresh token that is used late ends the session for thief and victim', async () => {
    const victim = await signedUp('robbed@example.com')
    const elsewhere = await browser.newContext({ storageState: await laptop.storageState() })
    const thief = await open(elsewhere)
    await thief.says('robbed@example.com')
    for (const note of ['one', 'two']) {
      await clock.advance('15m')
      await victim.addNote(note)
    }

    await thief.tryNote('Mine')
    await thief.signInButton.waitFor()
    await victim.tryNote('Hello?')
    await victim.signInButton.waitFor()
    await elsewhere.close()
  })

  async function signedUp(email: string): Promise<NotesPage> {
    const notes = await open(laptop)
    await notes.register(email)
    await notes.says(email)
    return notes
  }

  async function cookie(name: string): Promise<string> {
    const cookies = await laptop.cookies(`${address}/auth/refresh`)
    return cookies.find((candidate) => candidate.name === name)?.value ?? 'none'
  }
})

function serveNotes(app: express.Express): void {
  const notes = new Map<string, { text: string }[]>()
  const listOf = (request: Request) => {
    const { auth } = Object.assign({ auth: { userId: '' } }, request)
    return notes.get(auth.userId) ?? notes.set(auth.userId, []).get(auth.userId)
  }
  app.use(express.static(fileURLToPath(new URL('../../examples/express/page', import.meta.url))), express.json())
  app.use('/latchkey', express.static(fileURLToPath(new URL('../../dist', import.meta.url))))
  app.get(['/api/tour/tokens', '/api/tour/audit'], (_request, response) => void response.json([]))
  app.get('/api/notes', (request, response) => void response.json(listOf(request)))
  app.post('/api/notes', (request, response) => {
    listOf(request)?.push({ text: String(request.body.text) })
    response.status(201).json({})
  })
}
