import { type Fields, fieldsIn, flagIn, nullOr, numberIn, readFields, textIn, textsIn } from '../lib/json-fields.js'

/** A tool without a browser that waits for an administrator to approve its sign-in. */
export interface DeviceRequest {
  /** base64url of the SHA-256 of the tool's verifier, as in PKCE (RFC 7636 §4.2). */
  challenge: string
  /** The host name of the tool's machine, as the tool gives it. */
  client: string
  ip: string | null
  userAgent: string | null
  /** The session that looked the code up. No other session may answer. */
  lookedUpBy: string | null
  decision: DeviceDecision | null
}

/** What the administrator decided, and in which session. */
export interface DeviceDecision {
  approved: boolean
  userId: string
  sessionId: string
  /** Unix seconds. */
  authTime: number
  /** RFC 8176 */
  amr: readonly string[]
}

/** Reads the sealed text of the store. Null for any other text. */
export function parseDeviceRequest(text: string | null): DeviceRequest | null {
  return readFields(text, (fields) => ({
    challenge: textIn(fields, 'challenge'),
    client: textIn(fields, 'client'),
    ip: nullOr(fields, 'ip', textIn),
    userAgent: nullOr(fields, 'userAgent', textIn),
    lookedUpBy: nullOr(fields, 'lookedUpBy', textIn),
    decision: nullOr(fields, 'decision', decisionIn),
  }))
}

function decisionIn(fields: Fields, name: string): DeviceDecision {
  const decision = fieldsIn(fields, name)
  return {
    approved: flagIn(decision, 'approved'),
    userId: textIn(decision, 'userId'),
    sessionId: textIn(decision, 'sessionId'),
    authTime: numberIn(decision, 'authTime'),
    amr: textsIn(decision, 'amr'),
  }
}

/** A browser that a user has signed in with: it holds a secret, we its keyed digest. Times are Unix seconds. */
export interface Device {
  id: string
  userId: string
  tokenHash: string
  createdAt: number
  /** Moves on with every sign-in. */
  expiresAt: number
}
