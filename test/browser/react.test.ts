import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import { fileURLToPath } from 'node:url'
import { gzipSync } from 'node:zlib'
import { build } from 'esbuild'
import express from 'express'
import type { Browser, BrowserContext, Page } from 'playwright-core'
import { createElement } from 'react'
import { renderToString } from 'react-dom/server'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { createAuthClient } from '../../src/client.js'
import { type Auth, init } from '../../src/index.js'
import { LatchkeyProvider, SignedIn, SignedOut, useSession } from '../../src/react.js'
import { createTestRuntime, testSettings } from '../../src/testing.js'
import { freePort } from '../support/program.js'
import { collectFaults, isChromiumMissing, launchChromium } from './chromium.js'
import { run } from './tabs-page.js'

const password = 'a difference engine of brass'
const file = (path: string) => fileURLToPath(new URL(path, import.meta.url))

async function bytesOf(contents: string): Promise<number> {
  const stdin = { contents, resolveDir: file('../../src'), loader: 'ts' } as const
  const bundle = await build({ stdin, bundle: true, format: 'esm', minify: true, write: false, external: ['react'] })
  return gzipSync(bundle.outputFiles[0]?.contents ?? '', { level: 9 }).byteLength
}

test('latchkey/react adds at most 1 kB to the client, minified and gzipped', async () => {
  const client = "export * from './client.ts'"
  const both = await bytesOf(`${client}; export * from './react.ts'`)
  expect(both - (await bytesOf(client))).toBeLessThanOrEqual(1000)
})

describe('on a server', () => {
  const render = (session?: null) => {
    const children = [createElement(SignedIn, { key: 1 }, 'in'), createElement(SignedOut, { key: 2 }, 'out')]
    return renderToString(createElement(LatchkeyProvider, { client: createAuthClient(), session }, children))
  }

  test('a rendered session shows at once; without one neither side does, and nothing is asked', () => {
    expect(render(null)).toBe('out')
    expect(render()).toBe('')
  })

  test('a component outside a provider says what is missing', () => {
    const Lost = () => createElement('p', null, useSession().status)
    expect(() => renderToString(createElement(Lost))).toThrow('useSession needs a LatchkeyProvider above it.')
  })
})

describe.skipIf(isChromiumMissing())('in Chromium, under StrictMode and Suspense', () => {
  let browser: Browser
  let laptop: BrowserContext
  let faults: string[]
  let server: Server
  let auth: Auth
  let address: string
  /** Requests to routes of ours, in order. */
  let asked: string[]

  beforeAll(async () => {
    browser = await launchChromium()
    const port = await freePort()
    address = `http://localhost:${port}`
    const bundle = await build({
      entryPoints: [file('react-app.js')],
      bundle: true,
      format: 'esm',
      write: false,
      define: { 'process.env.NODE_ENV': '"development"' },
    })
    const app = express()
    const settings = testSettings({ baseUrl: address, registration: { emailVerification: 'optional' } })
    auth = init(app, settings, createTestRuntime())
    app.get('/', (_request, response) => {
      const page = '<!doctype html><title>React</title><link rel="icon" href="data:,"><div id="root"></div>'
      response.type('html').send(`${page}<script type="module" src="/app.js"></script>`)
    })
    app.get('/app.js', (_request, response) => void response.type('js').send(bundle.outputFiles[0]?.text))
    server = createServer((request, response) => {
      if (request.url?.startsWith('/auth/')) asked.push(`${request.method} ${request.url}`)
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
    asked = []
    laptop = await browser.newContext()
    faults = collectFaults(laptop)
  })

  afterEach(async () => {
    await laptop.close()
    expect(faults.filter((fault) => !/401/.test(fault))).toEqual([])
  })

  async function open(search = ''): Promise<Page> {
    const page = await laptop.newPage()
    await page.goto(`${address}/${search}`)
    await page.waitForFunction("document.querySelector('ol')")
    return page
  }

  const signUp = (page: Page) => run(page, `auth.signUp(${JSON.stringify({ email: 'ada@example.com', password })})`)
  const shown = (page: Page) => run<string[]>(page, "[...document.querySelectorAll('p')].map(({ id }) => id)")

  test('51 components cause one question to the server, and follow sign-in and sign-out', async () => {
    const page = await open()
    await page.waitForSelector('#out')
    expect(asked.filter((line) => line === 'GET /auth/me')).toHaveLength(1)
    expect(await shown(page)).toEqual(['out', 'barred'])

    await signUp(page)
    await page.waitForSelector('#in')
    expect(await shown(page)).toEqual(['in', 'barred'])
    expect(await run(page, "document.querySelectorAll('li')[50].textContent")).toBe('ada@example.com')

    const user = await auth.users.findByEmail('ada@example.com')
    await auth.users.update(user?.id ?? '', { roles: ['EDITOR'] })
    await run(page, 'auth.session.refresh()')
    await page.waitForSelector('#editor')

    await run(page, 'auth.signOut()')
    await page.waitForSelector('#out')
    expect(await shown(page)).toEqual(['out', 'barred'])
  })

  test('a page that its server rendered signed out asks nothing', async () => {
    const page = await open('?rendered')
    expect(await shown(page)).toEqual(['out', 'barred'])
    expect(asked).toEqual([])
  })

  test('coming back to the page costs one request at most', async () => {
    const page = await open()
    await page.waitForSelector('#out')
    asked = []
    const other = await laptop.newPage()
    await other.bringToFront()
    await page.bringToFront()
    await run(page, "document.dispatchEvent(new Event('visibilitychange')); window.dispatchEvent(new Event('focus'))")
    await page.waitForLoadState('networkidle')
    expect(asked.length).toBeLessThanOrEqual(1)
  })
})
