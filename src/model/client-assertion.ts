/** A JWT that stands in for a client secret, signed with ES256. */
export interface ClientAssertion {
  /** PKCS#8 in PEM, of the curve P-256. */
  privateKey: string
  keyId: string
  issuer: string
  subject: string
  audience: string
  lifetimeSeconds: number
}

export type SignClientAssertion = (assertion: ClientAssertion) => Promise<string>
