// Latchkey in each framework, with every kind of credential that it takes.
import { generateKeyPairSync } from 'node:crypto'
import { createServer } from 'node:http'
import jwt from 'jsonwebtoken'
import { init } from '../../../dist/index.js'
import { cookiesOf } from './cookies-of.js'
import { frameworks } from './frameworks.js'
import { configuration } from './latchkey-settings.js'

const issuer = 'https://issuer.example'

export async function start({ baseUrl, file, accounts, server, framework }) {
  const { create, route, listener } = frameworks[framework]
  const { token, url } = await startIssuer()
  const app = create(server)
  const jwks = { url, issuer, audience: 'bench', allowPrivate: true }
  const auth = init(app, { ...configuration(baseUrl, file), jwks })
  route(app)
  await auth.ready()
  const ready = async () => {
    const apiToken = await auth.apiTokens.create({ name: 'bench' })
    const others = { apiToken: { 'x-apikey': apiToken.token }, jwt: { authorization: `Bearer ${token}` } }
    return { ...(await register(baseUrl, accounts)), ...others }
  }
  return {
    app: await listener(app),
    ready,
    login: { path: '/auth/login', accounts },
  }
}

/** An issuer of tokens of its own, as an identity provider is one. */
async function startIssuer() {
  const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
  const keys = [{ ...publicKey.export({ format: 'jwk' }), kid: 'bench', alg: 'RS256', use: 'sig' }]
  const server = createServer((_request, response) => {
    response.setHeader('content-type', 'application/json')
    response.end(JSON.stringify({ keys }))
  })
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve))
  const about = { algorithm: 'RS256', keyid: 'bench', issuer, audience: 'bench', subject: 'ada', expiresIn: '2h' }
  const token = jwt.sign({ email: 'ada@example.com' }, privateKey, about)
  return { token, url: `http://127.0.0.1:${server.address().port}/.well-known/jwks.json` }
}

async function register(baseUrl, accounts) {
  for (const account of accounts) await post(`${baseUrl}/auth/register`, account)
  const cookie = cookiesOf(await post(`${baseUrl}/auth/login`, accounts[0], { origin: baseUrl }))
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
