import type { KeyIds } from '../store/key-ids.js'
import type { Tokens } from '../tokens/access-tokens.js'

interface NotedTokensPorts {
  keyIds: Pick<KeyIds, 'note'>
  clock: { now(): number }
}

/**
 * The tokens, and a note in the store when this process first signs an access token. No sign-in waits for the note. If the
 * store cannot take it, the next signature tries again.
 */
export function notedTokens(tokens: Tokens, { keyIds, clock }: NotedTokensPorts): Tokens {
  let isNoted = false
  function note(): void {
    isNoted = true
    keyIds.note(tokens.accessKeyId, clock.now()).catch(() => {
      isNoted = false
    })
  }
  return {
    ...tokens,
    signAccess(claims) {
      const token = tokens.signAccess(claims)
      if (!isNoted) note()
      return token
    },
  }
}
