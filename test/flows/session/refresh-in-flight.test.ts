import { afterAll, beforeAll, expect, test } from 'vitest'
import { refresh } from '../../../src/flows/session/refresh.js'
import type { Session } from '../../../src/model/session.js'
import type { Ports } from '../../../src/ports.js'
import { aSession, createdUser, stepOf, until } from '../../contracts/store/rows.js'
import { type Process, RotationWorld } from '../../support/rotation-world.js'

let world: RotationWorld

beforeAll(async () => {
  world = await RotationWorld.create()
})

afterAll(() => world.store.close())

const visitor = { ip: null, userAgent: null, actor: null }

/** The answer to a refresh, with something that this process does once between its store step and its answer. */
async function refreshed(process: Process, refreshToken: string, meanwhile: () => Promise<Ports['revocations']>) {
  let revocations: Ports['revocations'] | null = null
  const { tokens } = process.ports
  const ports: Ports = {
    ...process.ports,
    revocations: {
      isEnded: (id) => revocations?.isEnded(id) === true,
      deadBelow: (id) => revocations?.deadBelow(id) ?? 0,
    },
    tokens: {
      ...tokens,
      async prepareSigning() {
        revocations ??= await meanwhile()
        await tokens.prepareSigning()
      },
    },
  }
  return refresh(ports, { refreshToken, mode: 'cookie', visitor })
}

async function signedIn() {
  const process = world.process(0)
  const { jar, sessionId } = await world.signIn(process)
  const state = await world.store.sessions.find(sessionId)
  if (!state) throw new Error('no such session')
  return { process, token: jar.refresh, ...state }
}

test('ATK-196 a refresh that began before an impersonation issues nothing after it', async () => {
  const { process, token, session, user } = await signedIn()
  const target = await createdUser(world.store)
  const createdAt = Math.floor(world.nowMs / 1_000)
  const acting: Session = aSession(target.id, { createdAt, expiresAt: createdAt + 60 })
  const actor = { userId: user.id, sessionId: session.id }
  const answer = refreshed(process, token, async () => {
    const { audit } = stepOf('impersonation_started')()
    const versions = { version: target.version, actorVersion: user.version }
    expect(await world.store.sessions.impersonate({ ...acting, actor }, { ...versions, until, audit })).toBe(true)
    return { isEnded: () => false, deadBelow: (id) => (id === user.id ? user.version + 1 : 0) }
  })
  await expect(answer).rejects.toMatchObject({ code: 'session_expired' })
})

test('ATK-196 a refresh that began before its session ended issues nothing after it', async () => {
  const { process, token, session } = await signedIn()
  const answer = refreshed(process, token, async () => {
    expect(await world.store.sessions.end(session.id, null, stepOf('logout')())).toBe(true)
    return { isEnded: (id) => id === session.id, deadBelow: () => 0 }
  })
  await expect(answer).rejects.toMatchObject({ code: 'token_revoked' })
})

test('a refresh during a change of the user issues a token that knows of it', async () => {
  const { process, token, user } = await signedIn()
  const issued = await refreshed(process, token, async () => {
    await world.store.users.updateAccount(user.id, { roles: ['MEMBER'] }, stepOf('account_updated')())
    return { isEnded: () => false, deadBelow: () => user.version + 1 }
  })
  expect(issued.user.roles).toEqual(['MEMBER'])
})
