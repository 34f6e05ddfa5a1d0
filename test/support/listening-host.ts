import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createHostOf } from '../../src/host/host.js'
import { createHostPieces } from '../../src/host/host-pieces.js'
import { parseHostSettings } from '../../src/host/settings/host-settings.js'
import { createTestMailbox } from '../../src/testing.js'
import { freePort } from './program.js'
import { queryProgram } from './query-program.js'
import { archiveOfBundle, buildRunner, mingo } from './space-release.js'
import { threadProgram } from './storage-threads.js'

export const ann = { email: 'ann@example.test', password: 'a difference engine of brass' }

/** What a browser got: no redirect is followed. */
export interface Shown {
  status: number
  location: string
  text: string
  headers: Headers
}

/** A host on two ports, set up, with a browser in which its administrator has just signed in. */
export type ListeningHost = Awaited<ReturnType<typeof listeningHost>>

export async function listeningHost() {
  const folder = await mkdtemp(join(tmpdir(), 'latchkey-pages-'))
  const programs = {
    runner: await buildRunner(folder),
    mingo,
    thread: await threadProgram(),
    query: await queryProgram(folder),
  }
  const [front, admin] = [await freePort(), await freePort()]
  const data = join(folder, 'data')
  const adminUrl = `http://127.0.0.1:${admin}`
  const mailbox = createTestMailbox()
  const settings = parseHostSettings({
    data,
    baseUrl: `http://127.0.0.1:${front}`,
    adminUrl,
    listen: `127.0.0.1:${front}`,
    adminListen: `127.0.0.1:${admin}`,
    mail: { from: 'Host <host@example.test>', transport: mailbox.transport },
    auth: { logger: { warn: () => {}, error: () => {} }, password: { checkBreached: false } },
  })
  const host = createHostOf(settings, createHostPieces(programs), { stopTimes: { noticeMs: 0, drainMs: 1_000 } })
  await host.listen()
  const key = new URL((await readFile(join(data, 'setup-url'), 'utf8')).trim()).searchParams.get('key') ?? ''
  const browser = browserAt(adminUrl)
  const { status } = await browser.post('/auth/setup', { key, ...ann })
  if (status !== 303) throw new Error(`The set-up was answered with ${status}.`)
  return {
    adminUrl,
    baseUrl: `http://127.0.0.1:${front}`,
    /** The folder of the host. */
    data,
    mailbox,
    browser,
    newBrowser: () => browserAt(adminUrl),
    /** Deploys a file of `test/host/bundles`; returns the last row. */
    async deploy(space: string, bundle: string): Promise<unknown> {
      const answer = await fetch(`${adminUrl}/auth/admin/api/spaces/${space}/releases`, {
        method: 'POST',
        headers: { cookie: browser.cookie(), origin: adminUrl, 'content-type': 'application/gzip' },
        body: await archiveOfBundle(bundle),
      })
      return JSON.parse((await answer.text()).trim().split('\n').at(-1) ?? '{}')
    },
    async close() {
      await host.close()
      await rm(folder, { recursive: true, force: true })
    },
  }
}

/** A browser without scripts: it keeps cookies and sends forms. */
function browserAt(origin: string) {
  const cookies = new Map<string, string>()
  const cookie = () => [...cookies].map(([name, value]) => `${name}=${value}`).join('; ')

  async function ask(path: string, init: RequestInit = {}): Promise<Shown> {
    const headers = { cookie: cookie(), accept: 'text/html', 'sec-fetch-mode': 'navigate', ...init.headers }
    const answer = await fetch(`${origin}${path}`, { redirect: 'manual', ...init, headers })
    for (const line of answer.headers.getSetCookie()) {
      const [pair = ''] = line.split(';')
      const [name = '', value = ''] = pair.split('=')
      if (value === '') cookies.delete(name)
      else cookies.set(name, value)
    }
    const location = answer.headers.get('location') ?? ''
    return { status: answer.status, location, text: await answer.text(), headers: answer.headers }
  }

  return {
    cookie,
    cookies: () => [...cookies].map(([name, value]) => ({ name, value, url: origin })),
    get: (path: string) => ask(path),
    post: (path: string, fields: Readonly<Record<string, string>> = {}) =>
      ask(path, { method: 'POST', headers: { origin }, body: new URLSearchParams(fields) }),
  }
}
