// Client process: asks a guarded route 100 times a second, whether or not earlier answers are back, and reports how
// long each took. (Waiting for the answer first would hide exactly the stalls that are looked for.)
import { Agent, get } from 'node:http'
import { percentile } from './numbers.js'

const agent = new Agent({ keepAlive: true })

process.on('message', async ({ url, headers, seconds }) => {
  const pings = []
  const end = performance.now() + seconds * 1000
  while (performance.now() < end) {
    pings.push(ping(url, headers))
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
  const times = await Promise.all(pings)
  process.send({
    p50: percentile(times, 0.5),
    p99: percentile(times, 0.99),
    max: Math.max(...times),
    count: times.length,
  })
})
process.on('disconnect', () => process.exit())
process.send('ready')

function ping(url, headers) {
  const began = performance.now()
  return new Promise((resolve, reject) => {
    get(url, { agent, headers }, (response) => {
      response.resume()
      response.on('end', () => {
        if (response.statusCode === 200) resolve(performance.now() - began)
        else reject(new Error(`${url}: ${response.statusCode}`))
      })
    }).on('error', reject)
  })
}
