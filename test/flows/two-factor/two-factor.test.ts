import { describe, expect, onTestFinished, test } from 'vitest'
import { updateAccount } from '../../../src/flows/control/administer-accounts.js'
import { newUser } from '../../../src/flows/registration/register.js'
import { openSession } from '../../../src/flows/session/open-session.js'
import { type SignInResult, signIn } from '../../../src/flows/session/sign-in.js'
import { confirmTotp, enrolTotp } from '../../../src/flows/two-factor/enrol-totp.js'
import { passTwoFactor } from '../../../src/flows/two-factor/pass.js'
import { turnOffTwoFactor } from '../../../src/flows/two-factor/turn-off.js'
import { createAuth } from '../../../src/index.js'
import { createLimiter } from '../../../src/limits/counters.js'
import type { SessionPrincipal } from '../../../src/model/principal.js'
import type { Ports } from '../../../src/ports.js'
import { testSettings } from '../../../src/testing.js'
import { readSettings } from '../../../src/wiring/settings.js'
import { ada, attackServer } from '../../support/attack-server.js'
import { sharedSettings, testAuth } from '../../support/auth.js'
import { RotationWorld } from '../../support/rotation-world.js'
import { enrol, firstStep, totpCode } from '../../support/totp.js'

const visitor = { ip: '192.0.2.1', userAgent: 'test', actor: null }
const browser = { mode: 'cookie', visitor, device: null } as const

/** An account without a password that has just set up a second factor, over a real store. */
async function secured() {
  const world = await RotationWorld.create()
  onTestFinished(() => world.store.close())
  const { ports } = world.process(0)
  const email = 'ada@example.test'
  const fresh = newUser(ports, { email, canonical: email, name: null, fields: {} })
  await ports.users.create(fresh, { ...anEvent(ports), userId: fresh.id })
  const first = await openSession(ports, { user: fresh, method: 'otp', amr: ['otp'], ...browser })
  const principal = await principalOf(ports, first.session.id)
  const { secret } = await enrolTotp(ports, principal, { password: null, code: null, visitor, device: null })
  const { issued, backupCodes } = await confirmTotp(ports, principal, {
    code: totpCode(secret, world.nowMs),
    ...browser,
  })
  await world.until(world.nowMs + 30_000)
  return {
    world,
    ports,
    backupCodes,
    user: issued.user,
    principal: await principalOf(ports, issued.session.id),
    code: () => totpCode(secret, world.nowMs),
  }
}

function anEvent(ports: Ports) {
  const at = {
    id: ports.random.id(),
    atMs: ports.clock.nowMs(),
    ip: null,
    userAgent: null,
    actor: null,
    sessionId: null,
  }
  return { ...at, event: 'account_created', outcome: 'success', detail: {} } as const
}

async function principalOf(ports: Ports, sessionId: string): Promise<SessionPrincipal> {
  const state = await ports.sessions.find(sessionId)
  if (!state) throw new Error('no such session')
  const { id: userId, email, emailVerified, roles } = state.user
  const { amr, authTime } = state.session
  return { kind: 'session', userId, sessionId, email, emailVerified, roles, amr, authTime, actor: null }
}

function challengeOf(result: SignInResult): string {
  if (result.kind !== 'challenge') throw new Error('a session, and no question for the second factor')
  return result.challenge
}

describe('signing in', () => {
  test.each([
    ['password', ['pwd'], ['pwd', 'otp', 'mfa'], ['pwd', 'mfa']],
    ['otp', ['otp'], ['otp', 'mfa'], ['otp', 'mfa']],
    ['google', ['fed'], ['fed', 'otp', 'mfa'], ['fed', 'mfa']],
  ])(
    'ATK-030 ATK-057 by %s ends in the question for the second factor, never in a session',
    async (method, amr, byTotp, byBackup) => {
      const { ports, user, code, backupCodes } = await secured()
      const before = await ports.sessions.list(user.id, ports.clock.now())
      const challenge = challengeOf(await signIn(ports, { user, method, amr, ...browser }))
      expect(await ports.sessions.list(user.id, ports.clock.now())).toEqual(before)
      const issued = await passTwoFactor(ports, { challenge, code: code(), ...browser })
      expect(issued.session.amr).toEqual(byTotp)

      const known = (await ports.users.findById(user.id)) ?? user
      const next = challengeOf(await signIn(ports, { user: known, method, amr, ...browser }))
      const other = await passTwoFactor(ports, { challenge: next, code: backupCodes[0] ?? '', ...browser })
      expect(other.session.amr).toEqual(byBackup)
    },
  )

  test('hooks hear of it once, when both steps are done, with the method of the first', async () => {
    const { ports, user, code } = await secured()
    const heard: string[] = []
    const hooks = {
      beforeLogin: ({ method }: { method: string }) => void heard.push(`before ${method}`),
      afterLogin: ({ method }: { method: string }) => void heard.push(`after ${method}`),
    }
    const hooked = { ...ports, hooks }
    const challenge = challengeOf(await signIn(hooked, { user, method: 'otp', amr: ['otp'], ...browser }))
    expect(heard).toEqual([])
    await passTwoFactor(hooked, { challenge, code: code(), ...browser })
    expect(heard).toEqual(['before otp', 'after otp'])
  })

  test('a hook that fails leaves challenge and code for the next try', async () => {
    const { ports, user, code } = await secured()
    const challenge = challengeOf(await signIn(ports, { user, method: 'otp', amr: ['otp'], ...browser }))
    const broken = { ...ports, hooks: { beforeLogin: () => Promise.reject(new Error('broken')) } }
    const input = { challenge, code: code(), ...browser }
    await expect(passTwoFactor(broken, input)).rejects.toMatchObject({ code: 'hook_failed' })
    expect((await passTwoFactor(ports, input)).user.id).toBe(user.id)
  })

  test('ATK-048 a code that another request used between comparison and commit is refused like a wrong one', async () => {
    const { ports, user, code } = await secured()
    const challenge = challengeOf(await signIn(ports, { user, method: 'otp', amr: ['otp'], ...browser }))
    const input = { challenge, code: code(), ...browser }
    let raced: unknown = null
    const racing: Ports = {
      ...ports,
      hooks: {
        async beforeLogin() {
          raced ??= await passTwoFactor(ports, input)
        },
      },
    }
    await expect(passTwoFactor(racing, input)).rejects.toMatchObject({ code: 'invalid_code' })
    expect(raced).toMatchObject({ user: { id: user.id } })
    expect(await ports.sessions.list(user.id, ports.clock.now())).toHaveLength(2)
    const [refused] = await ports.audit.list({ limit: 1 })
    expect(refused).toMatchObject({ event: 'login', outcome: 'failure', detail: { reason: 'invalid_code' } })
  })
})

describe('turning off', () => {
  const input = { password: null, ...browser }

  test('goes on with what is there now when a role changes meanwhile, and keeps nothing that the factor had proved', async () => {
    const { ports, principal, user, code } = await secured()
    const { secondFactors } = ports
    let changed = false
    const interrupted: Ports = {
      ...ports,
      secondFactors: {
        ...secondFactors,
        async turnOff(change, step) {
          if (!changed) await ports.users.updateAccount(user.id, { roles: ['EDITOR'] }, step)
          changed = true
          return secondFactors.turnOff(change, { ...step, audit: { ...step.audit, id: ports.random.id() } })
        },
      },
    }
    const issued = await turnOffTwoFactor(interrupted, principal, { ...input, code: code() })
    expect(issued.user).toMatchObject({ roles: ['EDITOR'], factors: [], version: 4 })
    expect(issued.session.amr).toEqual(['otp'])
  })

  test('by a code that is used up meanwhile is refused, and the factor stays', async () => {
    const { ports, principal, user, code } = await secured()
    const { secondFactors } = ports
    const racing: Ports = {
      ...ports,
      secondFactors: {
        ...secondFactors,
        async turnOff(change, step) {
          const now = ports.clock.now()
          const used = {
            userId: user.id,
            version: change.version,
            proof: change.proof,
            backupCodes: [{ id: 'x', codeHash: 'k.x' }],
          }
          await secondFactors.replaceBackupCodes(used, now, {
            audit: { ...step.audit, id: ports.random.id() },
            mail: ports.mails.compose('decoy', user.email, {}),
          })
          return secondFactors.turnOff(change, step)
        },
      },
    }
    const turningOff = turnOffTwoFactor(racing, principal, { ...input, code: code() })
    await expect(turningOff).rejects.toMatchObject({ code: 'invalid_code' })
    expect((await ports.users.findById(user.id))?.factors).toMatchObject([{ kind: 'totp' }])
  })

  test('and all else that asks for a password takes a sign-in of the last five minutes where there is none', async () => {
    const { world, ports, principal, code } = await secured()
    await world.until(world.nowMs + 5 * 60_000)
    const late = { code: code(), ...input }
    await expect(turnOffTwoFactor(ports, principal, late)).rejects.toMatchObject({ code: 'recent_login_required' })
    await expect(enrolTotp(ports, principal, late)).rejects.toMatchObject({ code: 'recent_login_required' })
  })
})

test('a factor goes on working under a new encryption key, and asks for the old one to stay', async () => {
  const shared = sharedSettings()
  const [older, newer] = ['older key of this test: vG7wq2LxT9pZr4Ns', 'newer key of this test: hB3kc8MyF1dJu6Ea']
  const before = await testAuth({ ...shared, encryptionKey: older })
  const client = before.client()
  await client.signUp(ada)
  const factor = await enrol(client, ada.password, before.runtime.clock)
  await before.auth.close()

  const after = await testAuth({ ...shared, encryptionKey: [newer, older] }, before.runtime)
  for (const code of [await factor.nextCode(), factor.backupCodes[0]]) {
    const other = after.client()
    const challenge = await firstStep(other, ada)
    expect((await other.post('/auth/login/two-factor', { challenge, code })).status).toBe(200)
  }
  await after.auth.close()
  const without = testSettings({ ...shared, encryptionKey: newer, logger: { warn: () => {}, error: () => {} } })
  const auth = createAuth(without, before.runtime)
  onTestFinished(() => auth.close())
  await expect(auth.ready()).rejects.toThrow(
    /records still need a secret that is gone .*\. Put the former encryptionKey second .*JWT_REFRESH_TOKEN_SECRET/,
  )
})

test('ATK-112 every step of it is written down, with who, the way and how it ended, and without a code', async () => {
  const server = await attackServer({ file: true })
  onTestFinished(() => server.close())
  const client = server.client()
  const { body } = await client.signUp(ada)
  server.sql('delete from latchkey_audit')
  const factor = await enrol(client, ada.password, server.runtime.clock)
  const other = server.client()
  const pass = async (code: string) =>
    other.post('/auth/login/two-factor', { challenge: await firstStep(other, ada), code })
  await pass(factor.wrongCode())
  await pass(await factor.nextCode())
  await pass(factor.backupCodes[0] ?? '')
  const proof = { password: ada.password, code: factor.wrongCode() }
  await other.post('/auth/two-factor/backup-codes', proof)
  await other.post('/auth/two-factor/backup-codes', { ...proof, code: await factor.nextCode() })
  await other.delete('/auth/two-factor', { ...proof, password: 'wrong wrong wrong' })
  await other.delete('/auth/two-factor', { ...proof, code: await factor.nextCode() })

  const events = server.sql<{ event: string; outcome: string; detail: string; user_id: string }>(
    'select event, outcome, detail, user_id from latchkey_audit order by seq',
  )
  expect(new Set(events.map(({ user_id }) => user_id))).toEqual(new Set([body.user.id]))
  expect(events.map(({ event, outcome, detail }) => `${event} ${outcome} ${detail}`)).toEqual([
    'two_factor_enabled success {}',
    'two_factor_asked success {"method":"password"}',
    'login failure {"method":"password","reason":"invalid_code"}',
    'two_factor_asked success {"method":"password"}',
    'login success {"method":"password","secondFactor":"totp"}',
    'two_factor_asked success {"method":"password"}',
    'login success {"method":"password","secondFactor":"backup_code"}',
    'logout success {}',
    'backup_codes_replaced failure {"reason":"invalid_code"}',
    'backup_codes_replaced success {"secondFactor":"totp"}',
    'two_factor_disabled failure {}',
    'two_factor_disabled success {"secondFactor":"totp"}',
  ])
})

test('ATK-076 a factor that could only be half taken away is wholly gone, guesses and all, after another call', async () => {
  const { world, ports, user } = await secured()
  const { counters } = world.store
  let down = true
  const forget = async (ids: readonly string[]) => {
    if (down) throw new Error('disk I/O error')
    await counters.forget(ids)
  }
  const { limits } = readSettings(testSettings({ limits: {} }), { testing: true })
  const limiter = createLimiter({ counters: { ...counters, forget }, limits, now: ports.clock.now })
  const guess = () => limiter.factor(user.id)
  const takeAway = () => updateAccount({ ...ports, limiter }, { id: user.id, changes: { twoFactor: false }, visitor })

  for (let nth = 0; nth < 20; nth += 1) expect(await guess()).toBeNull()
  expect(await guess()).toBe(3_600)
  await expect(takeAway()).rejects.toThrow('disk I/O error')
  down = false
  expect(await takeAway()).toMatchObject({ twoFactor: false })
  expect(await guess()).toBeNull()
})
