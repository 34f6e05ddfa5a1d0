import type { CDPSession, Page } from 'playwright-core'
import type { OAuthPeer } from '../../src/testing.js'

/** What stands at the providers' addresses, as the browser sees it. */
export interface Providers {
  /** The address that the last page of a provider leads back to. */
  callback(): string
  /** From now on our own pages on the way stay where they would lead on by themselves, so that they can be looked at. */
  stay(): Promise<void>
}

interface Answer {
  requestId: string
  responseCode: number
  responseHeaders: { name: string; value: string }[]
  /** In base64. */
  body: string
}

/**
 * Answers the browser's navigations to the providers by a page that asks "Allow?", as providers do: the way back begins on
 * another site. Playwright's own routes never see what a redirect leads to, so the devtools protocol is spoken here.
 */
export async function playProviders(page: Page, peer: OAuthPeer): Promise<Providers> {
  const session = await page.context().newCDPSession(page)
  const atProvider = { urlPattern: 'https://*' }
  let callback = ''
  session.on('Fetch.requestPaused', (paused) => {
    const { requestId, request, responseStatusCode, responseHeaders = [] } = paused
    if (responseStatusCode === undefined) {
      callback = peer.answer(request.url)
      send(session, consentPage(requestId, callback, peer.refuse(request.url)))
    } else if (responseStatusCode === 200) {
      send(session, withoutRefresh(session, { requestId, responseCode: 200, responseHeaders }))
    } else {
      session.send('Fetch.continueRequest', { requestId }).catch(ignore)
    }
  })
  await session.send('Fetch.enable', { patterns: [atProvider] })
  return {
    callback: () => callback,
    async stay() {
      const onTheWay = { urlPattern: '*/auth/oauth*', requestStage: 'Response' } as const
      await session.send('Fetch.enable', { patterns: [atProvider, onTheWay] })
    },
  }
}

/** The page that asked may be gone by now. */
function ignore(): void {}

function send(session: CDPSession, answer: Answer | Promise<Answer>): void {
  Promise.resolve(answer)
    .then((ready) => session.send('Fetch.fulfillRequest', ready))
    .catch(ignore)
}

async function withoutRefresh(session: CDPSession, answer: Omit<Answer, 'body'>): Promise<Answer> {
  const { body, base64Encoded } = await session.send('Fetch.getResponseBody', { requestId: answer.requestId })
  const text = base64Encoded ? Buffer.from(body, 'base64').toString() : body
  const stays = text.replace(/<meta http-equiv="refresh"[^>]*>/, '')
  const responseHeaders = answer.responseHeaders.filter(({ name }) => !/^content-(length|encoding)$/i.test(name))
  return { ...answer, responseHeaders, body: Buffer.from(stays).toString('base64') }
}

function consentPage(requestId: string, allow: string, cancel: string): Answer {
  const link = (url: string, text: string) => `<a href="${url.replaceAll('&', '&amp;')}">${text}</a>`
  const icon = '<link rel="icon" href="data:,">'
  const text = `<!doctype html><title>Provider</title>${icon}${link(allow, 'Allow')} ${link(cancel, 'Cancel')}`
  const responseHeaders = [{ name: 'content-type', value: 'text/html; charset=utf-8' }]
  return { requestId, responseCode: 200, responseHeaders, body: Buffer.from(text).toString('base64') }
}
