// Session tokens by the number: like one that was issued, each of another session.
import { createHmac, createSecretKey, randomBytes } from 'node:crypto'

export function signedLike(token, secret) {
  const [header, payload] = token.split('.')
  const claims = JSON.parse(Buffer.from(payload, 'base64url'))
  const key = createSecretKey(Buffer.from(secret))
  return () => {
    const text = Buffer.from(JSON.stringify({ ...claims, sid: randomBytes(16).toString('base64url') }))
    const signed = `${header}.${text.toString('base64url')}`
    const token = `${signed}.${createHmac('sha256', key).update(signed).digest('base64url')}`
    // In one piece, as it comes off the wire.
    return Buffer.from(token).toString()
  }
}
