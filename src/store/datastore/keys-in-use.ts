import { apiTokens, backupCodes, oneTimeTokens, outbox, users } from '../tables.js'
import type { View } from '../unit.js'
import type { Steps } from './engine/steps.js'

/** Ids of the encryption keys that live one-time and API tokens, waiting mails and second factors name, each `<key id>.<rest>`. */
export async function keysInUse(steps: Steps, now: number): Promise<string[]> {
  const named = await steps.read(async (view) => {
    const tokens = await view.find(oneTimeTokens, { expires_at: { gt: now } })
    const mails = await view.find(outbox, { set_aside: 0 })
    const factors = await sealedFactors(view)
    const apis = await view.find(apiTokens, {})
    return [
      ...tokens.flatMap((row) => [row.token_hash, row.code_hash, row.handle_hash, row.payload]),
      ...mails.map((row) => row.sealed_values),
      ...factors,
      ...apis.filter((row) => row.expires_at === null || row.expires_at > now).map((row) => row.token_hash),
    ]
  })
  const ids = named.map((text) => (text?.includes('.') ? text.slice(0, text.indexOf('.')) : ''))
  return [...new Set(ids)].filter((id) => id !== '').sort()
}

/** Secrets and digests of second factors and backup codes, each `<key id>.<rest>`. */
async function sealedFactors(view: View): Promise<(string | null)[]> {
  // No query asks for "is not null" on every adapter; one for a number greater than 0 does the same.
  const secrets = await view.find(users, { totp_at: { gt: 0 } })
  const codes = await view.find(backupCodes, {})
  return [...secrets.map((row) => row.totp_secret), ...codes.map((row) => row.code_hash)]
}
