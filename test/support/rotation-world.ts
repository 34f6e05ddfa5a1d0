import { newUser } from '../../src/flows/registration/register.js'
import { openSession } from '../../src/flows/session/open-session.js'
import { refresh } from '../../src/flows/session/refresh.js'
import type { IssuedSession } from '../../src/flows/steps/issue-tokens.js'
import { RotationProofs } from '../../src/guard/rotation-proofs.js'
import { createKeyring } from '../../src/lib/keyring.js'
import { createRandom } from '../../src/lib/random.js'
import { createLimiter } from '../../src/limits/counters.js'
import { createMails } from '../../src/mail/outbox.js'
import type { Clock, Policy, Ports } from '../../src/ports.js'
import type { Sessions } from '../../src/store/sessions.js'
import { openSqlStore } from '../../src/store/sql/store.js'
import type { Store } from '../../src/store/store.js'
import { createTokens } from '../../src/tokens/jwt.js'
import { createAuthenticator } from '../../src/tokens/totp.js'
import { createWebauthn } from '../../src/tokens/webauthn/ceremonies.js'
import { testSeal } from './databases.js'

const random = createRandom()
const visitor = { ip: '192.0.2.1', userAgent: 'test', actor: null }

const policy: Policy = {
  authUrl: 'http://localhost:3000/auth',
  accessTokenSeconds: 900,
  refreshTokenSeconds: 30 * 86_400,
  sessionSeconds: 90 * 86_400,
  maxSessions: 50,
  registrationEnabled: true,
  emailVerification: 'required',
  verificationSeconds: 86_400,
  codeDigits: 6,
  codeTries: 5,
  otpSeconds: 600,
  otpMail: 'both',
  adminEmails: [],
  issuer: 'Test',
  access: {
    networks: [],
    knowsClients: true,
    jwksUrl: null,
    audience: [],
    reach: { allowPrivate: false, allowLoopback: true },
  },
  admin: { recentSeconds: 600, twoFactor: true, impersonation: null },
  passkeys: null,
  requiresFactor: () => false,
  parseFields: async () => ({}),
}

/** What a browser, or a thief, holds. */
export interface Jar {
  access: string
  refresh: string
}

/** Simulated time, one real store, and processes whose clocks differ. */
export class RotationWorld {
  readonly store: Store
  readonly #time: { nowMs: number }
  readonly #due: { atMs: number; run: () => void }[] = []
  readonly #work = new Set<Promise<unknown>>()

  private constructor(time: { nowMs: number }, store: Store) {
    this.#time = time
    this.store = store
  }

  static async create(): Promise<RotationWorld> {
    const time = { nowMs: Date.UTC(2026, 0, 1) }
    const store = await openSqlStore({
      database: { kind: 'sqlite', file: ':memory:' },
      now: () => time.nowMs,
      randomId: random.id,
      sleep: async () => {},
      random: random.jitter,
      seal: testSeal(),
      onChange: () => {},
      onMail: () => {},
    })
    return new RotationWorld(time, store)
  }

  /** True time, milliseconds; the store's clock shows it. */
  get nowMs(): number {
    return this.#time.nowMs
  }

  /** A process whose wall clock is off by that much. */
  process(skewMs: number): Process {
    return new Process(this, skewMs)
  }

  async signIn(process: Process): Promise<{ jar: Jar; sessionId: string }> {
    const email = `${random.id().toLowerCase()}@example.com`
    const user = newUser(process.ports, { email, canonical: email, name: null, fields: {} })
    await this.store.users.create(user, {
      id: random.id(),
      atMs: this.nowMs,
      event: 'account_created',
      outcome: 'success',
      userId: user.id,
      sessionId: null,
      ip: null,
      userAgent: null,
      actor: null,
      detail: {},
    })
    const issued = await openSession(process.ports, {
      user,
      mode: 'cookie',
      method: 'password',
      amr: ['pwd'],
      visitor,
      device: null,
    })
    return { jar: take({ access: '', refresh: '' }, issued), sessionId: issued.session.id }
  }

  schedule(atMs: number, run: () => void): () => void {
    const entry = { atMs, run }
    this.#due.push(entry)
    return () => {
      const index = this.#due.indexOf(entry)
      if (index !== -1) this.#due.splice(index, 1)
    }
  }

  /** Lets time pass up to that moment, running what falls due on the way, each thing to its end. */
  async until(atMs: number): Promise<void> {
    for (;;) {
      const next = this.#due.filter((entry) => entry.atMs <= atMs).sort((a, b) => a.atMs - b.atMs)[0]
      if (!next) break
      this.#due.splice(this.#due.indexOf(next), 1)
      this.#time.nowMs = Math.max(this.nowMs, next.atMs)
      next.run()
      await this.settle()
    }
    this.#time.nowMs = Math.max(this.nowMs, atMs)
  }

  track<T>(work: Promise<T>): Promise<T> {
    this.#work.add(work)
    const done = () => this.#work.delete(work)
    work.then(done, done)
    return work
  }

  async settle(): Promise<void> {
    while (this.#work.size > 0) await Promise.allSettled([...this.#work])
    await new Promise((resolve) => setImmediate(resolve))
  }
}

/** One process of the application: its own clock and its own memory of what it has seen. */
export class Process {
  readonly ports: Ports
  /** While true, batches of proofs do not get through to the store. */
  batchesFail = false
  #proofs: RotationProofs
  #generation = 0
  readonly #world: RotationWorld
  readonly #clock: Clock

  constructor(world: RotationWorld, skewMs: number) {
    this.#world = world
    this.#clock = {
      now: () => Math.floor((world.nowMs + skewMs) / 1000),
      nowMs: () => world.nowMs + skewMs,
      monotonicMs: () => world.nowMs,
    }
    this.#proofs = this.#freshProofs()
    const keyring = createKeyring(['a secret of this test, long enough to be one'])
    this.ports = {
      users: world.store.users,
      identities: world.store.identities,
      passkeys: world.store.passkeys,
      sessions: world.store.sessions,
      oneTimeTokens: world.store.oneTimeTokens,
      secondFactors: world.store.secondFactors,
      devices: world.store.devices,
      hashKinds: world.store.hashKinds,
      apiTokens: world.store.apiTokens,
      outbox: world.store.outbox,
      audit: world.store.audit,
      accessSettings: world.store.accessSettings,
      tokens: createTokens({
        accessSecrets: ['access secret of this test, long enough'],
        refreshSecrets: ['refresh secret of this test, long enough'],
        issuer: 'http://localhost:3000',
        audience: world.store.installationId,
      }),
      proofs: {
        note: (...sight) => this.#proofs.note(...sight),
        settle: (sessionId) => this.#proofs.settle(sessionId),
      },
      revocations: { isEnded: () => false, deadBelow: () => 0 },
      rights: { of: () => null },
      adminTokens: null,
      home: 'application',
      doctor: { installationId: '', topics: async () => [], timer: () => () => {}, last: () => null, keep: () => {} },
      passwords: {
        hash: unused,
        verify: unused,
        requireRoom: () => {},
        floor: unused,
        kind: { name: 'none', milliseconds: 0 },
        inspect: () => 'hash_unsupported',
        expect: () => {},
        queued: () => 0,
        close: unused,
      },
      passwordFaults: unused,
      keySets: { inForce: () => null, check: unused },
      operations: { health: unused },
      authenticator: createAuthenticator(),
      webauthn: createWebauthn(),
      providers: { list: () => [], find: () => null },
      keyring,
      mails: { ...createMails({ keyring, randomId: random.id, now: this.#clock.now }), showRefused: () => {} },
      limiter: createLimiter({ counters: world.store.counters, limits: null, now: this.#clock.now }),
      clock: this.#clock,
      random,
      policy,
      hooks: {},
    }
  }

  /** What this process saw but had not written is gone. */
  crash(): void {
    this.#generation += 1
    this.#proofs = this.#freshProofs()
  }

  refresh(token: string): Promise<IssuedSession> {
    return refresh(this.ports, { refreshToken: token, mode: 'cookie', visitor })
  }

  /** A guarded request: sound and unexpired by this process's clock, or not. */
  api(token: string): boolean {
    const claims = this.ports.tokens.checkAccess(token)
    if (!claims) return false
    this.ports.proofs.note(claims.sid, claims.ctr, this.#clock.monotonicMs())
    return claims.exp > this.#clock.now()
  }

  #freshProofs(): RotationProofs {
    const generation = this.#generation
    const sessions: Pick<Sessions, 'prove'> = {
      prove: (proofs) => {
        const fails = this.batchesFail || generation !== this.#generation
        return this.#world.track(
          fails ? Promise.reject(new Error('no store')) : this.#world.store.sessions.prove(proofs),
        )
      },
    }
    return new RotationProofs({
      sessions,
      clock: this.#clock,
      timer: (ms, run) => this.#world.schedule(this.#world.nowMs + ms, () => generation === this.#generation && run()),
    })
  }
}

/** What a browser does with an answer: the newest cookies win. */
export function take(jar: Jar, issued: IssuedSession): Jar {
  return { access: issued.accessToken ?? jar.access, refresh: issued.refreshToken ?? jar.refresh }
}

async function unused(): Promise<never> {
  throw new Error('not part of this test')
}
