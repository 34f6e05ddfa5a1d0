import { execFile, execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { describe, expect, test } from 'vitest'
import { AuthError } from '../../src/errors.js'
import type { CounterRule } from '../../src/model/counter.js'
import { openRedis } from '../../src/store/redis/open.js'
import { temporaryFolder } from '../support/auth.js'
import { freePort } from '../support/program.js'
import { keptLines, lookInto, openTestRedis, redisOptions, startRedis, until } from '../support/redis-server.js'

const now = 1_700_000_000
const rule: CounterRule = { limit: 1_000_000, windowSeconds: 60 }
const secret = 'not-for-any-log'

/** Why it would not open. */
async function refusal(url: string): Promise<string> {
  const { lines, logger } = keptLines()
  const error: unknown = await openRedis(redisOptions({ redis: url, logger })).then(
    () => null,
    (reason: unknown) => reason,
  )
  expect(error).toBeInstanceOf(Error)
  const told = `${error} ${(error as Error).stack} ${JSON.stringify(error)} ${JSON.stringify(lines)}`
  expect(told).not.toContain(secret)
  expect(lines).toEqual([])
  return (error as Error).message
}

describe('a server that cannot be used is refused with its name and the reason, and without the password', () => {
  test('nobody listens', async () => {
    const port = await freePort()
    const message = await refusal(`redis://ada:${secret}@127.0.0.1:${port}`)
    expect(message).toBe(`redis: 127.0.0.1:${port} cannot be used: ECONNREFUSED.`)
  })

  test('no such host', async () => {
    expect(await refusal(`redis://ada:${secret}@redis.invalid`)).toMatch(
      /^redis: redis\.invalid cannot be used: (ENOTFOUND|EAI_AGAIN)\.$/,
    )
  })

  test('wrong password, no password, a user that may not count', async () => {
    const { port, url } = await startRedis(['--requirepass', 'the right one'])
    const place = `127.0.0.1:${port}`
    expect(await refusal(`redis://:${secret}@${place}`)).toContain('(WRONGPASS)')
    expect(await refusal(`redis://ada:${secret}@${place}`)).toContain('(WRONGPASS)')
    expect(await refusal(url)).toBe(
      `redis: ${place} cannot be used: the server asks for a password (NOAUTH). Add it to the URL or the client.`,
    )

    const right = `redis://:${encodeURIComponent('the right one')}@${place}`
    await lookInto(right).acl('SETUSER', 'reader', 'on', `>${secret}`, '~*', '&*', '+@read', '+info')
    expect(await refusal(`redis://reader:${secret}@${place}`)).toContain('(NOPERM)')
    const { counters, close } = await openRedis(redisOptions({ redis: right }))
    expect(await counters.hit('one', rule, now)).toMatchObject({ counted: true })
    await close()
  })

  test('a certificate that nobody vouches for, or for another name; one that Node is told of is taken', async () => {
    const { port, certificate } = await startTlsRedis()
    const url = `rediss://:${secret}@localhost:${port}`
    expect(await refusal(url)).toBe(`redis: localhost:${port} cannot be used: DEPTH_ZERO_SELF_SIGNED_CERT.`)

    const child = (place: string) => hitElsewhere(`rediss://:${secret}@${place}`, certificate)
    expect(await child(`localhost:${port}`)).toBe('{"counted":true,"remaining":2,"resetsAt":1060}')
    expect(await child(`127.0.0.1:${port}`)).toContain(
      `127.0.0.1:${port} cannot be used: ERR_TLS_CERT_ALTNAME_INVALID.`,
    )
  })
})

/** A Redis that speaks TLS under a certificate of its own for `localhost`. */
async function startTlsRedis(): Promise<{ port: number; certificate: string }> {
  const folder = temporaryFolder()
  const [key, certificate] = [join(folder, 'key.pem'), join(folder, 'certificate.pem')]
  const subject = ['-subj', '/CN=localhost', '-addext', 'subjectAltName=DNS:localhost', '-days', '1', '-nodes']
  const files = ['-keyout', key, '-out', certificate]
  execFileSync('openssl', ['req', '-x509', '-newkey', 'rsa:2048', ...subject, ...files], { stdio: 'ignore' })
  const port = await freePort()
  const tls = ['--tls-port', String(port), '--tls-cert-file', certificate, '--tls-key-file', key]
  await startRedis([...tls, '--tls-ca-cert-file', certificate, '--tls-auth-clients', 'no', '--requirepass', secret])
  return { port, certificate }
}

/** A hit by a process that trusts that certificate: what it printed, or why it failed. */
async function hitElsewhere(url: string, certificate: string): Promise<string> {
  const program = fileURLToPath(new URL('../support/redis-hit-child.js', import.meta.url))
  const env = { ...process.env, NODE_EXTRA_CA_CERTS: certificate }
  const { stdout, stderr } = await promisify(execFile)(process.execPath, [program, url], { env }).catch(
    (error: { stdout: string; stderr: string }) => error,
  )
  return (stdout || stderr).trim()
}

describe('what a user of the server must be allowed', () => {
  test('is what the page on several processes lists', async () => {
    const { port } = await startRedis(['--requirepass', 'the right one'])
    const admin = lookInto(`redis://:${encodeURIComponent('the right one')}@127.0.0.1:${port}`)
    const page = readFileSync(new URL('../../docs/deploy/several-processes.md', import.meta.url), 'utf8')
    const [, rights = ''] = /A Redis user for Latchkey alone needs `([^`]+)`/.exec(page) ?? []
    await admin.acl('SETUSER', 'latchkey', 'on', '>pass', ...rights.split(/\s+/))
    const url = `redis://latchkey:pass@127.0.0.1:${port}`
    const installationId = 'least'
    const [one, other] = await Promise.all([1, 2].map(() => openRedis(redisOptions({ redis: url, installationId }))))
    let wakes = 0
    one?.wake.listen(() => {
      wakes += 1
    })
    await until('subscribed', () => wakes >= 2)
    expect(await other?.counters.hit('one', rule, now)).toMatchObject({ counted: true })
    await other?.counters.forget(['one'])
    const before = wakes
    other?.wake.notify()
    await until('woken', () => wakes > before)
    await one?.close()
    await other?.close()
  })
})

describe('a server that goes away', () => {
  test('killed: every hit is 503 within a second and a bit; started again, empty: hits count again', async () => {
    const server = await startRedis()
    const { lines, logger } = keptLines()
    const { counters } = await openTestRedis({ redis: server.url, logger })
    expect(await counters.hit('one', { ...rule, limit: 1 }, now)).toMatchObject({ counted: true })
    await server.kill()

    for (let round = 0; round < 5; round += 1) {
      const error: unknown = await counters.hit('one', rule, now).catch((reason: unknown) => reason)
      expect(error).toBeInstanceOf(AuthError)
      expect(error).toMatchObject({ code: 'store_unavailable', status: 503 })
    }
    await expect(counters.forget(['one'])).rejects.toMatchObject({ code: 'store_unavailable' })
    await server.start()
    await until('hits count', () => counters.hit('one', rule, now).catch(() => null))
    expect(lines.map(({ level, fields }) => [level, fields.event, fields.server, fields.error])).toEqual([
      ['error', 'redis', `127.0.0.1:${server.port}`, 'ECONNREFUSED'],
      ['warn', 'redis', `127.0.0.1:${server.port}`, null],
    ])
  })

  test('killed connections are made again without a hit failing', async () => {
    const server = await startRedis()
    const { counters } = await openTestRedis({ redis: server.url })
    const admin = lookInto(server.url)
    let counted = 0
    for (let round = 0; round < 20; round += 1) {
      const hits = Array.from({ length: 10 }, () => counters.hit('one', rule, now))
      await admin.call('CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'yes')
      for (const hit of await Promise.all(hits)) counted += hit.counted ? 1 : 0
    }
    expect(counted).toBe(200)
    // One that was cut off may have counted twice; none is lost.
    const { remaining } = await counters.hit('one', rule, now)
    expect(rule.limit - remaining).toBeGreaterThan(200)
  })

  test('one that hangs: hits are 503 in time, and count again when it goes on', async () => {
    const server = await startRedis()
    const { counters } = await openTestRedis({ redis: server.url })
    server.signal('SIGSTOP')
    const hits = Array.from({ length: 50 }, () =>
      counters.hit('one', rule, now).catch((error: AuthError) => error.code),
    )
    expect(new Set(await Promise.all(hits))).toEqual(new Set(['store_unavailable']))
    await sleep(3_000)
    server.signal('SIGCONT')
    await until('hits count', () => counters.hit('one', rule, now).catch(() => null))
  })

  test('a primary that becomes a replica refuses hits, and counts again as a primary', async () => {
    const server = await startRedis()
    const { counters } = await openTestRedis({ redis: server.url })
    const admin = lookInto(server.url)
    await admin.replicaof('127.0.0.1', String(await freePort()))
    await expect(counters.hit('one', rule, now)).rejects.toMatchObject({ code: 'store_unavailable' })
    await admin.replicaof('NO', 'ONE')
    await until('hits count', () => counters.hit('one', rule, now).catch(() => null))
  })

  test('one that is full refuses new counters, it drops none', async () => {
    const server = await startRedis(['--maxmemory', '3mb', '--maxmemory-policy', 'noeviction'])
    const { counters } = await openTestRedis({ redis: server.url })
    await counters.hit('first', { ...rule, limit: 1 }, now)
    const admin = lookInto(server.url)
    let refused: unknown = null
    await until('it is full', async () => {
      refused = await admin.append('filler', 'x'.repeat(100_000)).then(
        () => null,
        (error: unknown) => error,
      )
      return refused
    })
    await expect(counters.hit('second', rule, now)).rejects.toMatchObject({ code: 'store_unavailable' })
    await admin.del('filler')
    expect(await counters.hit('first', { ...rule, limit: 1 }, now)).toMatchObject({ counted: false })
  })
})
