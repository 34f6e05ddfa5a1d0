// Client process: transfers of a gibibyte, and requests at a steady pace.
import { Agent, request } from 'node:http'
import { percentile } from '../numbers.js'

const agent = new Agent({ keepAlive: true })
const piece = Buffer.alloc(64 * 1024, 'x')
const deeds = { down, up, pace }
let stopped = false

process.on('message', async (asked) => {
  if (asked === 'stop') stopped = true
  else process.send(await deeds[asked.deed](asked))
})
process.on('disconnect', () => process.exit())
process.send('ready')

/** MiB a second. */
async function down({ url, headers, mebibytes }) {
  return perSecond(mebibytes, async () => {
    const answer = await answerOf(request(`${url}/down/${mebibytes}`, { headers }).end())
    let bytes = 0
    for await (const part of answer) bytes += part.length
    if (bytes !== mebibytes * 2 ** 20) throw new Error(`${url}: ${bytes} bytes came`)
  })
}

async function up({ url, headers, mebibytes }) {
  return perSecond(mebibytes, async () => {
    const length = mebibytes * 2 ** 20
    const asked = request(`${url}/up`, {
      method: 'POST',
      headers: { ...headers, 'content-type': 'application/octet-stream', 'content-length': length },
    })
    const answered = answerOf(asked)
    for (let left = mebibytes * 16; left > 0; left -= 1) {
      if (!asked.write(piece)) await new Promise((resolve) => asked.once('drain', resolve))
    }
    asked.end()
    let text = ''
    for await (const part of await answered) text += part
    if (text !== JSON.stringify({ bytes: length })) throw new Error(`${url}: ${text}`)
  })
}

/**
 * So many requests a second, however long each takes, for that long or until `stop` comes. `others`: answers that are no whole 2xx, by
 * status.
 */
async function pace({ url, headers, rate, seconds = Number.POSITIVE_INFINITY }) {
  stopped = false
  const latencies = []
  const others = {}
  const begun = []
  const start = performance.now()
  for (let sent = 0; sent < rate * seconds && !stopped; sent += 1) {
    const due = start + (sent * 1_000) / rate
    const wait = due - performance.now()
    if (wait > 0) await new Promise((resolve) => setTimeout(resolve, wait))
    begun.push(
      once(url, headers).then((status) => {
        latencies.push(performance.now() - due)
        if (status < 200 || status > 299) others[status] = (others[status] ?? 0) + 1
      }),
    )
  }
  await Promise.all(begun)
  return { requests: latencies.length, p99: percentile(latencies, 0.99), others }
}

/** 0 for a connection that broke. */
async function once(url, headers) {
  try {
    const answer = await answerOf(request(url, { headers, agent }).end())
    answer.resume()
    await new Promise((resolve) => answer.once('close', resolve))
    return answer.complete ? answer.statusCode : 0
  } catch {
    return 0
  }
}

function answerOf(asked) {
  return new Promise((resolve, reject) => asked.once('response', resolve).once('error', reject))
}

async function perSecond(mebibytes, work) {
  const start = performance.now()
  await work()
  return mebibytes / ((performance.now() - start) / 1_000)
}
