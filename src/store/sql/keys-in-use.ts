import type { Steps } from './steps.js'

/** Ids of the encryption keys that live one-time tokens and waiting mails name, each `<key id>.<rest>`. */
export async function keysInUse(steps: Steps, now: number): Promise<string[]> {
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
    return [...ofTokens.flat(), ...ofMails]
  })
  return [...new Set(found.map(({ key_id }) => key_id ?? ''))].filter((id) => id !== '').sort()
}
