import { expect, test } from 'vitest'
import { type CredentialPorts, identify } from '../../src/guard/credentials.js'
import type { HttpRequest } from '../../src/http/message.js'
import { createSharedClock } from '../../src/lib/shared-clock.js'
import { createVerifiedCache } from '../../src/tokens/verified-cache.js'
import { accessClaims } from '../support/tokens.js'

/** Counts what a check costs: each of the tokens below counts as ours, signed for somebody of its own. */
function world() {
  const checked: string[] = []
  const moment = { now: accessClaims.iat, wallMs: accessClaims.iat * 1_000, monotonicMs: 0 }
  const ports: CredentialPorts = {
    settings: {
      accessTokenSeconds: 900,
      twoFactor: { required: false } as CredentialPorts['settings']['twoFactor'],
      apiTokens: { inUrl: false, refuseBrowsers: true } as CredentialPorts['settings']['apiTokens'],
      ownOrigins: [],
      trustedOrigins: [],
    },
    cookieNames: { access: 'access-token', refresh: 'refresh-token' } as CredentialPorts['cookieNames'],
    clock: createSharedClock({ now: () => moment.wallMs, monotonic: () => 0, testing: true }),
    clientIp: () => null,
    requireFresh: async () => {},
    allowList: { restricts: () => false, allows: () => true },
    hook: null,
    apiTokens: {
      check() {
        throw new Error('no API token was sent')
      },
    },
    jwts: null,
    tokens: {
      checkAccess(token) {
        checked.push(token)
        return { ...accessClaims, sub: token }
      },
    },
    verified: createVerifiedCache(),
    revocations: { isEnded: () => false, deadBelow: () => 0 },
    proofs: { note() {} },
    demandsFactor: true,
  }
  const ask = (authorization: string) => identify(ports, get({ authorization }), moment)
  return { ask, checked }
}

function get(headers: HttpRequest['headers']): HttpRequest {
  const place = { method: 'GET', path: '/api/notes', query: '', mount: '' }
  return { ...place, headers, rawHeaders: null, ip: null, body: { kind: 'none' } as never, native: null }
}

test('a token is found again however its scheme is spelled: nobody has one checked anew by spelling it in turns', () => {
  const { ask, checked } = world()
  const spellings = ['Bearer a.b.c', 'bearer a.b.c', 'BEARER a.b.c', 'bEARER a.b.c']
  for (let time = 0; time < 3; time += 1)
    for (const header of spellings) expect(ask(header)).toMatchObject({ userId: 'a.b.c' })
  expect(checked).toEqual(['a.b.c'])
})

test('another scheme, and a scheme alone, are no bearer token', () => {
  const { ask, checked } = world()
  for (const header of ['Bearer', 'bearer ', 'Bearer ', 'Basic a.b.c', 'Bearera.b.c', 'xBearer a.b.c'])
    expect(() => ask(header)).toThrow(expect.objectContaining({ code: 'unauthenticated' }))
  expect(checked).toEqual([])
})
