import { createServer } from 'node:http'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { gatherEvidence } from '../../src/cli/doctor/evidence.js'
import { judgeNetwork } from '../../src/cli/doctor/network-checks.js'
import { examine } from '../../src/flows/control/run-doctor.js'
import { init } from '../../src/index.js'
import { createTxtRecords, createWorld, testingWorld } from '../../src/lib/runtime.js'
import { checkRows } from '../../src/model/doctor/checks.js'
import { createTestRuntime, testSettings } from '../../src/testing.js'
import { examineLocally } from '../../src/wiring/doctor/local.js'
import { topicsOf } from '../../src/wiring/doctor/topics.js'
import { temporaryFolder } from '../support/auth.js'
import { startDnsServer } from '../support/dns-server.js'
import { doctorContext } from '../support/doctor.js'
import { issuerKey, keyServer } from '../support/key-server.js'
import { startOpenIdServer } from '../support/openid-server.js'
import { freePort } from '../support/program.js'
import { startRangeServer } from '../support/range-server.js'
import { startRedis } from '../support/redis-server.js'
import { startSmtpServer } from '../support/smtp-server.js'

const email = 'ann@acme.example'
const records = {
  'acme.example': ['v=spf1 include:_spf.provider.example -all'],
  '_dmarc.acme.example': ['v=DMARC1; p=reject'],
  's1._domainkey.acme.example': ['v=DKIM1; k=rsa; p=MIGfMA0GCSqGSIb3'],
}

/** Everything that an application may be connected with, as it should be. */
async function startSurroundings(baseUrl: string) {
  const [dns, smtp, redis, issuer, range] = await Promise.all([
    startDnsServer(records),
    startSmtpServer({ account: { user: 'acme', pass: 'right' } }),
    startRedis(),
    keyServer(),
    startRangeServer(),
  ])
  onTestFinished(() => Promise.all([smtp.close(), issuer.stop(), range.close()]).then(() => {}))
  issuer.publish({ keys: [issuerKey('k1').jwk] })
  const client = {
    CLIENT_ID: 'latchkey',
    CLIENT_SECRET: 'a secret of this test, long enough',
    REDIRECT_URI: `${baseUrl}/auth/oauthcallback/company`,
  }
  const { issuer: ISSUER } = await startOpenIdServer(client)
  const dkim = { domainName: 'acme.example', keySelector: 's1', privateKey: 'not used here' }
  return {
    txt: createTxtRecords([dns.address]),
    smtp,
    settings: testSettings({
      baseUrl,
      database: `sqlite:${join(temporaryFolder(), 'latchkey.db')}`,
      redis: redis.url,
      mail: {
        from: 'Acme <hello@acme.example>',
        transport: { host: '127.0.0.1', port: smtp.port, auth: { user: 'acme', pass: 'right' }, dkim },
      },
      jwks: { url: issuer.url, audience: 'https://api.acme.example' },
      oauth: { company: { ...client, ISSUER } },
      password: { cost: 4, checkBreached: range.url },
      admin: { emails: [email], twoFactor: false },
      logger: { warn: () => {}, error: () => {} },
    }),
  }
}

test('a healthy deployment has no finding, in the server, in the tool and between them', async () => {
  const baseUrl = `http://localhost:${await freePort()}`
  const { settings, txt, smtp } = await startSurroundings(baseUrl)
  const runtime = createTestRuntime({ fetch: globalThis.fetch, txt })
  const server = createServer((_request, response) => void response.writeHead(404).end())
  const auth = init(server, settings, runtime)
  onTestFinished(async () => {
    server.closeAllConnections()
    server.close()
    await auth.close()
  })
  await auth.users.create({ email, password: 'correct horse battery', emailVerified: true })
  await new Promise<void>((resolve) => server.listen(Number(new URL(baseUrl).port), resolve))

  const { report, target } = await examineLocally(settings, { runtime })
  if (!('auth' in target)) throw new Error(target.skipped)
  // Node writes the header Date by the real clock, not by that of the test.
  const network = judgeNetwork(await gatherEvidence(target, { fetch: globalThis.fetch, now: Date.now }))
  const context = await doctorContext({ settings, world: { ...createWorld(runtime), ...runtime[testingWorld] } })
  const { checks: served } = await examine(topicsOf(context, 'S'), { timer: context.world.timer, clock })
  const all = [...report.checks, ...served, ...network]

  expect(all.filter(({ ok }) => !ok)).toEqual([])
  expect(all.flatMap(({ code, skipped }) => (skipped === null ? [] : [[code, skipped]]))).toEqual([
    ['clock_skew', 'This database has no clock of its own.'],
    ['clock_skew', 'This database has no clock of its own.'],
    ['proxy_untrusted', 'baseUrl is on loopback.'],
    ['hsts_missing', 'The address has no https.'],
  ])
  expect(new Set(all.map(({ code }) => code))).toEqual(new Set(Object.keys(checkRows)))
  expect(smtp.mails).toEqual([])
}, 30_000)

const clock = { now: () => 0, monotonicMs: () => 0 }
