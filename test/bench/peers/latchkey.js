// Latchkey on Express.
import express from 'express'
import { init } from '../../../dist/index.js'
import { cookiesOf } from './cookies-of.js'
import { hello } from './hello.js'
import { configuration } from './latchkey-settings.js'

export async function start({ baseUrl, file, accounts }) {
  const app = express()
  const auth = init(app, configuration(baseUrl, file))
  app.get('/api/hello', hello)
  await auth.ready()
  const beside = express()
  beside.get('/api/hello', hello)
  return { app, beside, ready: () => register(baseUrl, accounts), login: { path: '/auth/login', accounts } }
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
