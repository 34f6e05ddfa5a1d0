// Requests that write and read, and what they must never see. Each worker goes on until `stopped()`.
import { randomUUID } from 'node:crypto'
import { sleep } from '../processes.js'

/** What was confirmed, and what must be nothing. */
export function createLedger() {
  const counted = { requests: 0, done: 0, unavailable: 0, broken: 0 }
  return {
    counted,
    puts: [],
    sums: new Map(),
    settings: new Map(),
    faults: { 'lost confirmed writes': [], 'half-live releases': [], 'wrong admissions': [], 'wrong answers': [] },
    /** Status 0 is a connection that broke or was refused: nothing is known of the request. */
    async ask(url, { method = 'GET', headers = {}, body } = {}) {
      counted.requests += 1
      try {
        const answer = await fetch(url, {
          method,
          headers: body === undefined ? headers : { ...headers, 'content-type': 'application/json' },
          body: body === undefined ? undefined : JSON.stringify(body),
          signal: AbortSignal.timeout(20_000),
        })
        const text = await answer.text()
        const isJson = answer.headers.get('content-type')?.includes('json')
        if (answer.ok) counted.done += 1
        else counted.unavailable += 1
        return { status: answer.status, body: isJson ? JSON.parse(text) : null }
      } catch {
        counted.broken += 1
        return { status: 0, body: null }
      }
    },
  }
}

/** Inserts documents, and reads one that was confirmed. */
export async function putDocuments(ledger, { url, headers }, stopped) {
  const own = []
  while (!stopped()) {
    const id = randomUUID()
    const answer = await ledger.ask(`${url}/put`, { method: 'POST', headers, body: { id } })
    if (answer.status === 200) {
      own.push(id)
      ledger.puts.push({ url, headers, id })
    } else await sleep(20)
    const read = own[Math.floor(Math.random() * own.length)]
    if (read === undefined) continue
    const found = await ledger.ask(`${url}/put/${read}`, { headers })
    if (found.status === 200 && found.body?._id !== read) ledger.faults['lost confirmed writes'].push(`put ${read}`)
  }
}

/** Adds one at a time. The sum lies between what was confirmed and what was sent. */
export async function addUp(ledger, { url, headers }, stopped) {
  const id = randomUUID()
  const sum = { url, headers, confirmed: 0, sent: 0 }
  ledger.sums.set(id, sum)
  while (!stopped()) {
    sum.sent += 1
    const answer = await ledger.ask(`${url}/add/${id}`, { method: 'POST', headers })
    if (answer.status === 200) sum.confirmed += 1
    else await sleep(20)
  }
}

/** Sets a key to rising numbers: it never falls behind the last one that was confirmed. */
export async function setKey(ledger, { url, headers }, stopped) {
  const key = randomUUID()
  const setting = { url, headers, confirmed: 0, sent: 0 }
  ledger.settings.set(key, setting)
  while (!stopped()) {
    setting.sent += 1
    const body = { value: setting.sent }
    const answer = await ledger.ask(`${url}/set/${key}`, { method: 'POST', headers, body })
    if (answer.status === 200) setting.confirmed = setting.sent
    else await sleep(20)
  }
}

/** Asks without a right to an answer: each 2xx is a wrong admission. */
export async function intrude(ledger, strangers, stopped) {
  while (!stopped()) {
    for (const { what, url, ...request } of strangers) {
      const { status } = await ledger.ask(url, request)
      if (status >= 200 && status < 300) ledger.faults['wrong admissions'].push(`${what}: ${status}`)
    }
    await sleep(50)
  }
}

/** Makes a token, uses it, removes it: a second after the removal it opens nothing. */
export async function churnTokens(ledger, { url, call, space }, stopped) {
  while (!stopped()) {
    const made = await call('POST', `/spaces/${space}/tokens`, { name: 'churn' }).catch(() => null)
    if (!made) {
      await sleep(200)
      continue
    }
    const headers = { 'x-apikey': made.token }
    await ledger.ask(`${url}/release`, { headers })
    while (!(await removed(call, space, made.id))) await sleep(200)
    await sleep(1_000)
    for (let times = 0; times < 5; times += 1) {
      const { status } = await ledger.ask(`${url}/release`, { headers })
      if (status >= 200 && status < 300) ledger.faults['wrong admissions'].push(`removed token: ${status}`)
    }
  }
}

async function removed(call, space, id) {
  try {
    await call('DELETE', `/spaces/${space}/tokens/${id}`)
    return true
  } catch (error) {
    return String(error).includes(': 404')
  }
}

/** Reads the release that answers. `allowed()` gives the numbers that may, as of when the request began. */
export async function readRelease(ledger, { url, headers }, allowed, stopped) {
  while (!stopped()) {
    const before = allowed()
    const { status, body } = await ledger.ask(`${url}/release`, { headers })
    const may = [...before, ...allowed()]
    if (status === 200 && !may.includes(body?.release)) {
      ledger.faults['half-live releases'].push(`${body?.release} answered, expected ${[...new Set(may)].join(' or ')}`)
    }
    await sleep(20)
  }
}

/** What is there at the end, when everything runs again. */
export async function audit(ledger) {
  const lost = ledger.faults['lost confirmed writes']
  for (const { url, headers, id } of ledger.puts) {
    const { status, body } = await patiently(() => ledger.ask(`${url}/put/${id}`, { headers }))
    if (status !== 200 || body?._id !== id) lost.push(`put ${id}: ${status}`)
  }
  for (const [id, { url, headers, confirmed, sent }] of ledger.sums) {
    const { body } = await patiently(() => ledger.ask(`${url}/sum/${id}`, { headers }))
    if (!(body?.sum >= confirmed && body.sum <= sent))
      lost.push(`sum ${body?.sum}, confirmed ${confirmed}, sent ${sent}`)
  }
  for (const [key, { url, headers, confirmed, sent }] of ledger.settings) {
    const { body } = await patiently(() => ledger.ask(`${url}/set/${key}`, { headers }))
    if (!(body?.value >= confirmed && body.value <= sent))
      lost.push(`key ${body?.value}, confirmed ${confirmed}, sent ${sent}`)
  }
}

/** Asks again for 30 s while nothing answers. */
async function patiently(ask) {
  for (let tries = 0; ; tries += 1) {
    const answer = await ask()
    if (answer.status === 200 || tries === 60) return answer
    await sleep(500)
  }
}
