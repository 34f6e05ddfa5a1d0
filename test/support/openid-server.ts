import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import Provider, { type Configuration } from 'oidc-provider'
import { onTestFinished } from 'vitest'

/** oidc-provider on loopback: a certified OpenID issuer that is not ours. */
export interface OpenIdServer {
  issuer: string
  /** Plays the browser and a person who agrees: from the authorization address to that of the callback. */
  agree(authorizationUrl: string, login?: string): Promise<string>
}

export async function startOpenIdServer(
  client: { CLIENT_ID: string; CLIENT_SECRET: string; REDIRECT_URI: string },
  changes: Configuration = {},
): Promise<OpenIdServer> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const provider = new Provider(issuer, {
    clients: [
      {
        client_id: client.CLIENT_ID,
        client_secret: client.CLIENT_SECRET,
        redirect_uris: [client.REDIRECT_URI],
        response_types: ['code'],
        grant_types: ['authorization_code'],
      },
    ],
    pkce: { required: () => true },
    claims: { openid: ['sub'], email: ['email', 'email_verified'], profile: ['name'] },
    findAccount: (_context, id) => ({
      accountId: id,
      claims: () => ({ sub: id, email: `${id}@company.test`, email_verified: true, name: id.toUpperCase() }),
    }),
    cookies: { keys: ['a key of this test'] },
    ...changes,
  })
  server.on('request', provider.callback())
  onTestFinished(async () => {
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  })
  return { issuer, agree: (url, login = 'ada') => agree(url, login, client.REDIRECT_URI) }
}

/** Follows redirects with a cookie jar and sends the two forms of the development pages. */
async function agree(start: string, login: string, redirectUri: string): Promise<string> {
  const cookies = new Map<string, string>()
  let url = start
  let form: URLSearchParams | null = null
  for (let step = 0; step < 12; step += 1) {
    if (url.startsWith(redirectUri)) return url
    const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ')
    const answer: Response = await fetch(url, {
      redirect: 'manual',
      headers: { cookie },
      ...(form ? { method: 'POST', body: form } : {}),
    })
    for (const line of answer.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? []
      cookies.set(name, value)
    }
    form = null
    const location = answer.headers.get('location')
    if (location !== null) url = new URL(location, url).href
    else {
      const page = await answer.text()
      const [, action] = /action="([^"]+)"/.exec(page) ?? []
      const [, prompt] = /name="prompt" value="([^"]+)"/.exec(page) ?? []
      if (action === undefined || prompt === undefined)
        throw new Error(`no form, but ${answer.status}: ${/<pre>.*<\/pre>/s.exec(page)?.[0]}`)
      url = new URL(action, url).href
      form = new URLSearchParams(prompt === 'login' ? { prompt, login, password: 'any' } : { prompt })
    }
  }
  throw new Error('the issuer sends the browser around in circles')
}
