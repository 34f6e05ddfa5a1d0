import { createRequire } from 'node:module'
import type { verifyAuthenticationResponse, verifyRegistrationResponse } from '@simplewebauthn/server'
import type { decodeAttestationObject, decodeCredentialPublicKey } from '@simplewebauthn/server/helpers'
import { lateModule } from '../../lib/late-module.js'

interface Server {
  verifyRegistrationResponse: typeof verifyRegistrationResponse
  verifyAuthenticationResponse: typeof verifyAuthenticationResponse
}

interface Helpers {
  decodeAttestationObject: typeof decodeAttestationObject
  decodeCredentialPublicKey: typeof decodeCredentialPublicKey
}

/** It takes most of a second and 25 MB to load, so it waits for the first response of an authenticator. */
const server = lateModule<Server>(
  () => import('@simplewebauthn/server'),
  () => createRequire(import.meta.url)('@simplewebauthn/server'),
)

const helpers = lateModule<Helpers>(
  () => import('@simplewebauthn/server/helpers'),
  () => createRequire(import.meta.url)('@simplewebauthn/server/helpers'),
)

export async function loadLibrary(): Promise<Server & Helpers> {
  await Promise.all([server.load(), helpers.load()])
  return { ...server.get(), ...helpers.get() }
}
