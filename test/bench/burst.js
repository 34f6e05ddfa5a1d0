// Client process: sends a list of requests over so many connections, each as soon as the one before is answered.
import { Agent, request } from 'node:http'

process.on('message', async ({ url, requests, connections, mustSet }) => {
  const agent = new Agent({ keepAlive: true, maxSockets: connections })
  const times = []
  const left = requests.values()
  const began = performance.now()
  const lane = async () => {
    for (const wish of left) times.push(await timed(agent, url, wish, mustSet))
  }
  await Promise.all(Array.from({ length: connections }, lane))
  const seconds = (performance.now() - began) / 1000
  agent.destroy()
  times.sort((a, b) => a - b)
  const at = (share) => times[Math.min(times.length - 1, Math.floor(share * times.length))]
  process.send({ count: times.length, perSecond: times.length / seconds, seconds, p50: at(0.5), p99: at(0.99) })
})
process.on('disconnect', () => process.exit())
process.send('ready')

/** Milliseconds. An answer that does not set that cookie has not done what is measured. */
function timed(agent, url, { method, path, headers }, mustSet) {
  const began = performance.now()
  return new Promise((resolve, reject) => {
    const asked = request(url + path, { method, headers, agent }, (response) => {
      const cookies = response.headers['set-cookie'] ?? []
      const isDone = response.statusCode === 200 && (!mustSet || cookies.some((line) => line.includes(mustSet)))
      response.resume()
      response.on('end', () => {
        if (isDone) resolve(performance.now() - began)
        else reject(new Error(`${path}: ${response.statusCode}, cookies ${cookies.map((line) => line.split('=')[0])}`))
      })
    })
    asked.on('error', reject)
    asked.end()
  })
}
