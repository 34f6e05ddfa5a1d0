/** Codes of authenticator apps: RFC 6238 with SHA-1, 6 digits and steps of 30 s, which every app supports. */
export interface Authenticator {
  /** 160 random bits (RFC 4226 §4, R6), base32 without padding. */
  newSecret(): Promise<string>

  /** The `otpauth:` address that an app reads. @throws {Error} when issuer or account holds a colon */
  uri(key: { secret: string; account: string; issuer: string }): Promise<string>

  /** The text as a QR code: the data URI of an SVG. */
  qrCode(text: string): Promise<string>

  /**
   * The time step of a valid code, else null. Valid are the codes of the current step, the one before and the one after, if
   * they are newer than `afterStep` (RFC 6238 §5.2).
   *
   * @param afterStep The newest step accepted before; null when there was none.
   * @param now Unix seconds.
   */
  stepOf(secret: string, code: string, afterStep: number | null, now: number): Promise<number | null>
}
