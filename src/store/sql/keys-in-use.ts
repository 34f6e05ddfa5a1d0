import type { Kysely } from 'kysely'
import type { Flavour } from './engine/flavour.js'
import type { Tables } from './engine/schema.js'
import type { Steps } from './engine/steps.js'

/** Ids of the encryption keys that further tables name, for `keysInUse`. `now`: Unix seconds. */
export type FurtherKeys = (db: Kysely<Tables>, flavour: Flavour, now: number) => Promise<readonly string[]>

/** Ids of the encryption keys that live one-time and API tokens, waiting mails and second factors name, each `<key id>.<rest>`. */
export async function keysInUse(steps: Steps, now: number, further: FurtherKeys): Promise<string[]> {
  const { flavour } = steps
  const tokenColumns = ['token_hash', 'code_hash', 'handle_hash', 'payload'] as const
  const found = await steps.step(async (db) => {
    const ofTokens = await Promise.all(
      tokenColumns.map((column) =>
        db
          .selectFrom('latchkey_one_time_tokens')
          .select(flavour.beforeDot(column).as('key_id'))
          .distinct()
          .where('expires_at', '>', now)
          .execute(),
      ),
    )
    const ofMails = await db
      .selectFrom('latchkey_outbox')
      .select(flavour.beforeDot('sealed_values').as('key_id'))
      .distinct()
      .where('set_aside', '=', 0)
      .execute()
    const ofFactors = await factorKeys(db, flavour)
    const ofApiTokens = await db
      .selectFrom('latchkey_api_tokens')
      .select(flavour.beforeDot('token_hash').as('key_id'))
      .distinct()
      .where((eb) => eb.or([eb('expires_at', 'is', null), eb('expires_at', '>', now)]))
      .execute()
    const others = [...ofTokens.flat(), ...ofMails, ...ofApiTokens].map(({ key_id }) => key_id)
    return [...others, ...ofFactors, ...(await further(db, flavour, now))]
  })
  return [...new Set(found.map((id) => id ?? ''))].filter((id) => id !== '').sort()
}

/** Ids of the encryption keys that made the stored second factors and backup codes. */
async function factorKeys(db: Kysely<Tables>, flavour: Flavour): Promise<(string | null)[]> {
  const ofSecrets = await db
    .selectFrom('latchkey_users')
    .select(flavour.beforeDot('totp_secret').as('key_id'))
    .distinct()
    .where('totp_secret', 'is not', null)
    .execute()
  const ofBackupCodes = await db
    .selectFrom('latchkey_backup_codes')
    .select(flavour.beforeDot('code_hash').as('key_id'))
    .distinct()
    .execute()
  return [...ofSecrets, ...ofBackupCodes].map(({ key_id }) => key_id)
}
