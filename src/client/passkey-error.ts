/** Why no passkey was made or used, with the browser's own words. Refusals of the server are `AuthClientError`s. */
export class PasskeyError extends Error {
  /**
   * - `cancelled`: the user refused, had no passkey or did not answer in time, or another passkey call ended this one.
   * - `already_added`: this device or password manager holds a passkey of the account already.
   * - `unsupported`: the browser has no passkeys, or the page is not on https.
   * - `failed`: anything else, such as a page that is not on a site of `passkeys.rpId`.
   */
  declare readonly code: 'cancelled' | 'already_added' | 'unsupported' | 'failed'

  constructor(cause: unknown) {
    const { name, message }: { name: string; message?: string } = Object(cause)
    super(message, { cause })
    Object.assign(this, { name: 'PasskeyError', code: codes[name] ?? 'failed' })
  }
}

/** By the names of the browser's errors. Browsers do not say more, so that no page learns which passkeys a visitor has. */
const codes: Readonly<Record<string, PasskeyError['code']>> = {
  NotAllowedError: 'cancelled',
  AbortError: 'cancelled',
  InvalidStateError: 'already_added',
  TypeError: 'unsupported',
}
