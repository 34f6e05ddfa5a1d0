import { expect, test } from 'vitest'
import { createKeyring } from '../../../src/lib/keyring.js'
import { checkDoctorProof, makeDoctorProof } from '../../../src/model/doctor/proof.js'

const old = 'an old secret of this test, long enough'
const keyring = createKeyring(['a secret of this test, long enough to be one', old])
const request = { method: 'GET', origin: 'https://app.example', path: '/auth/admin/api/doctor/echo' }
const now = 1_800_000_000
const proof = makeDoctorProof(keyring, request, now)

test('a proof is valid for a minute before and after its time, by any secret of the list', () => {
  for (const at of [now - 60, now, now + 60]) expect(checkDoctorProof(keyring, request, proof, at)).toBe(true)
  expect(checkDoctorProof(keyring, request, makeDoctorProof(createKeyring([old]), request, now), now)).toBe(true)
})

test('ATK-213 a proof is refused after 60 s, for another request, and under another secret', () => {
  expect(checkDoctorProof(keyring, request, proof, now + 61)).toBe(false)
  expect(checkDoctorProof(keyring, request, proof, now - 61)).toBe(false)
  for (const other of [{ method: 'POST' }, { origin: 'https://staging.example' }, { path: '/auth/admin/api/users' }])
    expect(checkDoctorProof(keyring, { ...request, ...other }, proof, now)).toBe(false)
  const stranger = createKeyring(['another secret of this test, long enough'])
  expect(checkDoctorProof(stranger, request, proof, now)).toBe(false)
})

test('ATK-213 a digest for another purpose is no proof, and a proof is no such digest', () => {
  const text = ['GET', request.origin, request.path, String(now)].join('\n')
  expect(proof).toBe(`${now}.${keyring.digest('doctor', text)}`)
  for (const purpose of ['audit', 'apiToken', 'one-time-token'])
    expect(checkDoctorProof(keyring, request, `${now}.${keyring.digest(purpose, text)}`, now)).toBe(false)
})

test.each([
  '',
  '.',
  `${now}`,
  `${now}.`,
  `${now}.x`,
  `${now + 1}.${proof.slice(11)}`,
  `-${proof}`,
  ` ${proof}`,
  `${proof}=`,
])('«%s» is no proof', (text) => {
  expect(checkDoctorProof(keyring, request, text, now)).toBe(false)
})
