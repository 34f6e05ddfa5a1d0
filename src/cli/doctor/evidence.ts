import { createWorld } from '../../lib/runtime.js'
import { echoPath } from '../../model/doctor-echo.js'
import type { NetworkTarget } from '../home.js'
import { ask, type Reply } from './ask.js'

/** Everything that the checks of the network judge. */
export interface Evidence {
  target: NetworkTarget
  echo: Reply
  /** Around the echo, Unix milliseconds. */
  askedAtMs: number
  answeredAtMs: number
  /** The echo of a request that lied about its address. */
  forged: Reply
  page: Reply
  files: readonly { path: string; reply: Reply }[]
}

interface Surroundings {
  fetch: typeof globalThis.fetch
  now(): number
}

/** An address of no one (RFC 5737), which no client can have. */
export const forgedAddress = '198.51.100.77'

const mostFiles = 10

/** Asks the application as a browser and as a liar would. Never rejects. */
export async function gatherEvidence(target: NetworkTarget, world: Surroundings = createWorld()): Promise<Evidence> {
  const { auth, credential } = target
  const { fetch, now } = world
  const echoUrl = `${auth}${echoPath}`
  const askedAtMs = now()
  const echo = await ask(fetch, echoUrl, credential())
  const answeredAtMs = now()
  const forged = await ask(fetch, echoUrl, { ...credential(), 'x-forwarded-for': forgedAddress })
  const pageUrl = `${auth}/login`
  const page = await ask(fetch, pageUrl, { accept: 'text/html' })
  const paths = page.kind === 'answer' && page.status === 200 ? filesOf(page.text, pageUrl) : []
  const files = await Promise.all(
    paths.map(async (path) => ({ path, reply: await ask(fetch, new URL(path, auth).href) })),
  )
  return { target, echo, askedAtMs, answeredAtMs, forged, page, files }
}

/** The stylesheets, scripts and icons of a page that are on its own origin. */
function filesOf(html: string, pageUrl: string): string[] {
  const { origin } = new URL(pageUrl)
  const links = [...html.matchAll(/\s(?:href|src)="([^"]*\/assets\/[^"]+)"/g)].flatMap(([, link = '']) => {
    if (!URL.canParse(link, pageUrl)) return []
    const url = new URL(link, pageUrl)
    return url.origin === origin ? [url.pathname] : []
  })
  return [...new Set(links)].slice(0, mostFiles)
}
