import { createRequire } from 'node:module'
import type { generateSecret, generateURI, verifySync } from 'otplib'
import { lateModule } from '../lib/late-module.js'
import type { Authenticator } from './authenticator.js'
import { qrCode } from './qr-code.js'

/** Seconds of a time step: the default of otplib, and the only one that every app supports. */
const stepSeconds = 30

/** otplib takes 30 ms to load, and only accounts with a second factor need it. */
const otplib = lateModule<{
  generateSecret: typeof generateSecret
  generateURI: typeof generateURI
  verifySync: typeof verifySync
}>(
  () => import('otplib'),
  () => createRequire(import.meta.url)('otplib'),
)

/** Authenticator codes by otplib, and their QR codes. */
export function createAuthenticator(): Authenticator {
  return {
    async newSecret() {
      await otplib.load()
      return otplib.get().generateSecret()
    },
    async uri({ secret, account, issuer }) {
      // otplib does not encode a colon, and apps read it as the end of the issuer.
      if (`${issuer}${account}`.includes(':')) throw new Error('issuer and account must not hold a colon')
      await otplib.load()
      return otplib.get().generateURI({ issuer, label: account, secret })
    },
    qrCode,
    async stepOf(secret, code, afterStep, now) {
      // otplib throws for a code of another form, and for a step ahead of the window (a clock that was put back).
      if (!/^\d{6}$/.test(code)) return null
      if (afterStep !== null && afterStep > Math.floor(now / stepSeconds)) return null
      await otplib.load()
      const result = otplib.get().verifySync({
        secret,
        token: code,
        epoch: now,
        epochTolerance: stepSeconds,
        ...(afterStep === null ? {} : { afterTimeStep: afterStep }),
      })
      return result.valid && 'timeStep' in result ? result.timeStep : null
    },
  }
}
