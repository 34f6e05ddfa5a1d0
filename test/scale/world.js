// Everything that runs: PostgreSQL behind a proxy, Redis, a mail server, three application processes and the people.
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { startPostgres } from './postgres.js'
import { forkScript, freePort, kill, killAll, sleep } from './processes.js'
import { startRedis } from './redis.js'

const origin = 'https://scale.example'
const processes = 3

export async function startWorld({ actors, staleness, redis: wanted }) {
  const postgres = await startPostgres()
  const { child: proxy, ready } = await forkScript('proxy.js', { port: postgres.port })
  const redis = wanted ? await startRedis() : null
  const smtpPort = await freePort()
  const { child: smtp } = await forkScript('smtp.js', { port: smtpPort })
  const settings = settingsOf({ postgres, proxyPort: ready.port, redis, smtpPort, staleness })
  const logged = new Map()
  /** When a process was dead, or the store away: `{ instance?, from, to }`. */
  let stopping = false
  const [outages, storeFaults, crashes] = [[], [], []]

  const apps = await Promise.all(
    Array.from({ length: processes }, async () => ({ port: await freePort(), child: null })),
  )
  await Promise.all(apps.map((_, instance) => startApp(instance)))
  const ports = apps.map(({ port }) => port)
  const { child: client } = await forkScript('client.js', { ports, origin, actors })
  smtp.on('message', ({ mail }) => mail && client.connected && client.send({ mail }))

  async function startApp(instance) {
    const { port } = apps[instance]
    const { child } = await forkScript('app.js', { name: `app ${instance}`, port, settings })
    child.on('message', ({ log }) => log && count(logged, `${log.event} ${log.reason ?? log.error ?? ''}`))
    child.once('exit', (code, signal) => {
      if (signal === 'SIGKILL' || stopping) return
      crashes.push({ instance, code: signal ?? code })
      // As whoever watches over it would: what it breaks meanwhile is counted, and the run goes on.
      restart(instance, Date.now())
    })
    apps[instance].child = child
  }

  async function restart(instance, from) {
    while (!stopping) {
      const started = await startApp(instance).then(
        () => true,
        (error) => crashes.push({ instance, code: error.message }) && false,
      )
      if (started) break
      await sleep(500)
    }
    outages.push({ instance, from, to: Date.now() })
  }

  return {
    logged,
    /** Processes that ended without being killed, `{ instance, code }`. */
    crashes,
    postgres,
    redis,
    enter: (phase) => client.send({ phase }),

    /** kill -9; returns how to start it again. */
    async killApp(instance) {
      const from = Date.now()
      await kill(apps[instance].child)
      return () => restart(instance, from)
    },
    setClock: (instance, aheadMs) => tell(apps[instance].child, { aheadMs }),
    setWeather: (weather) => tell(proxy, { weather }),
    cut: () => tell(proxy, { cut: true }),
    setSmtp: (mood) => tell(smtp, { mood }),

    /** While that work is done the store is away, or may be. */
    async storeAway(work) {
      const fault = { from: Date.now(), to: Number.POSITIVE_INFINITY }
      storeFaults.push(fault)
      await work()
      fault.to = Date.now()
    },

    async verdict() {
      const verdict = reportOf(client)
      client.send({ finish: { outages, storeFaults } })
      return verdict
    },
    async stop() {
      stopping = true
      await killAll()
      postgres.remove()
    },
  }
}

/** Production settings; only the numbers differ that would stop a load generator. */
function settingsOf({ postgres, proxyPort, redis, smtpPort, staleness }) {
  const many = '1000000/1m'
  return {
    JWT_ACCESS_TOKEN_SECRET: randomBytes(48).toString('base64url'),
    JWT_REFRESH_TOKEN_SECRET: randomBytes(48).toString('base64url'),
    baseUrl: origin,
    database: postgres.url('postgres', proxyPort),
    ...(redis && { redis: redis.url }),
    mail: { from: 'Scale <auth@scale.example>', transport: `smtp://127.0.0.1:${smtpPort}` },
    trustedProxies: 1,
    accessTokenLifetime: '1m',
    revocation: { staleness },
    password: { cost: 10, checkBreached: false },
    limits: {
      login: { ip: many, account: many },
      mail: { ip: many, account: many },
      guess: { ip: many, account: many },
      refresh: { ip: many },
      apiToken: { ip: many },
      other: { ip: many },
    },
  }
}

async function tell(child, message) {
  const heard = once(child, 'message')
  child.send(message)
  await heard
}

function reportOf(client) {
  return new Promise((resolve, reject) => {
    client.on('message', ({ report }) => report && resolve(report))
    client.once('exit', (code) => reject(new Error(`the client ended with ${code}`)))
  })
}

function count(map, key) {
  map.set(key, (map.get(key) ?? 0) + 1)
}
