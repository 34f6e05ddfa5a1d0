import type { CDPSession, Page } from 'playwright-core'

/** An authenticator of Chromium, such as a phone's, which answers every request at once, those without a dialog too. */
export interface VirtualAuthenticator {
  /** The ids of the passkeys that it holds, base64url. */
  credentials(): Promise<string[]>
  /** Whether it recognises its user from now on. */
  setUserVerified(isUserVerified: boolean): Promise<void>
}

export async function addAuthenticator(page: Page): Promise<VirtualAuthenticator> {
  const session: CDPSession = await page.context().newCDPSession(page)
  await session.send('WebAuthn.enable')
  const { authenticatorId } = await session.send('WebAuthn.addVirtualAuthenticator', {
    options: {
      protocol: 'ctap2',
      transport: 'internal',
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified: true,
      automaticPresenceSimulation: true,
      defaultBackupEligibility: true,
      defaultBackupState: true,
    },
  })
  return {
    async credentials() {
      const { credentials } = await session.send('WebAuthn.getCredentials', { authenticatorId })
      return credentials.map(({ credentialId }) => Buffer.from(credentialId, 'base64').toString('base64url'))
    },
    async setUserVerified(isUserVerified) {
      await session.send('WebAuthn.setUserVerified', { authenticatorId, isUserVerified })
    },
  }
}

/** Takes autofill away, so that a page waits for its button. */
export async function withoutAutofill(page: Page): Promise<void> {
  await page.addInitScript('PublicKeyCredential.isConditionalMediationAvailable = async () => false')
}
