// One request to one application process. Never rejects: what happened is the answer.
import { Agent, request } from 'node:http'

/** Longer than anything may take: whoever waits that long waits for nothing. */
const hungAfterMs = 45_000

/**
 * `ask(operation, { instance?, method?, path, body?, jar?, bearer?, apiKey?, tokenMode?, ip?, hangUp? })` gives
 * `{ status, code, body, instance, sentAt, answeredAt }`; status 0: no answer came. Without `instance` any one is asked.
 */
export function createAsk({ ports, origin, oracle }) {
  const agents = ports.map(() => new Agent({ keepAlive: true }))

  return async function ask(operation, { instance = Math.floor(Math.random() * ports.length), ...wish }) {
    const sentAt = Date.now()
    const began = performance.now()
    const phase = oracle.phase()
    const outcome = await send(agents[instance], ports[instance], origin, wish)
    const answer = { ...outcome, instance, sentAt, answeredAt: Date.now() }
    if (!wish.hangUp) oracle.note(operation, phase, answer, performance.now() - began)
    if (wish.jar && answer.setCookies.length > 0) wish.jar.take(answer.setCookies)
    return answer
  }
}

function send(agent, port, origin, { method = 'POST', path, body, hangUp = false, ...wish }) {
  const text = body === undefined ? '' : JSON.stringify(body)
  const headers = headersOf(origin, wish)
  if (text) Object.assign(headers, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) })
  return new Promise((resolve) => {
    const nothing = (reason) => resolve({ status: 0, code: reason, body: null, setCookies: [] })
    const asked = request({ host: '127.0.0.1', port, method, path, headers, agent }, (response) => {
      let answer = ''
      response.setEncoding('utf8').on('data', (piece) => {
        answer += piece
      })
      response.on('error', ({ code }) => nothing(code))
      response.on('end', () => resolve(read(response, answer)))
    })
    asked.setTimeout(hungAfterMs, () => asked.destroy(Object.assign(new Error(), { code: 'HUNG' })))
    asked.on('error', ({ code }) => nothing(code))
    asked.end(text)
    // A tab that is closed, a phone in a tunnel: the request arrives, its answer does not.
    if (hangUp) setTimeout(() => asked.destroy(Object.assign(new Error(), { code: 'HUNG_UP' })), 15 * Math.random())
  })
}

function read(response, answer) {
  let body = null
  try {
    body = answer === '' ? null : JSON.parse(answer)
  } catch {
    // A page where JSON belongs shows in its status.
  }
  return { status: response.statusCode, code: body?.code, body, setCookies: response.headers['set-cookie'] ?? [] }
}

function headersOf(origin, { jar, bearer, apiKey, tokenMode, ip = '10.0.0.1' }) {
  const headers = { 'x-forwarded-for': ip, 'user-agent': 'scale' }
  if (jar) Object.assign(headers, { origin, cookie: jar.header() })
  if (bearer) headers.authorization = `Bearer ${bearer}`
  if (apiKey) headers['x-apikey'] = apiKey
  if (tokenMode) headers['x-auth-mode'] = 'token'
  return headers
}
