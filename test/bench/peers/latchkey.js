// Latchkey in each framework, with every kind of credential that it takes.
import { init } from '../../../dist/index.js'
import { cookiesOf } from './cookies-of.js'
import { frameworks } from './frameworks.js'
import { configuration, parties } from './latchkey-settings.js'

/** `issuer`: where the keys of another issuer are, if its tokens count. */
export async function start({ baseUrl, file, secrets, accounts, server, framework, issuer }) {
  const { create, route, listener } = frameworks[framework]
  const app = create(server)
  const jwks = issuer === null ? {} : { jwks: { url: issuer, ...parties, allowPrivate: true } }
  const auth = init(app, { ...configuration(baseUrl, file, secrets), ...jwks })
  route(app)
  await auth.ready()
  const { token } = await auth.apiTokens.create({ name: 'bench' })
  return {
    app: await listener(app),
    credentials: { apiToken: { 'x-apikey': token } },
    login: { path: '/auth/login', accounts },
  }
}

export async function signIn({ baseUrl, accounts }) {
  for (const account of accounts) await post(`${baseUrl}/auth/register`, account)
  const cookie = cookiesOf(await post(`${baseUrl}/auth/login`, accounts[0], { origin: baseUrl }), '/api/hello')
  const { accessToken } = await (await post(`${baseUrl}/auth/login`, accounts[0], { 'x-auth-mode': 'token' })).json()
  return { cookie: { cookie }, bearer: { authorization: `Bearer ${accessToken}` } }
}

async function post(url, body, headers = {}) {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  })
  if (!response.ok) throw new Error(`${url}: ${response.status} ${await response.text()}`)
  return response
}
