import { AuthError } from '../../errors.js'
import type { ClientData } from '../../model/factors/webauthn.js'
import type { OneTimeToken } from '../../model/one-time-token.js'
import type { Ports } from '../../ports.js'

export type ChallengePorts = Pick<Ports, 'oneTimeTokens' | 'keyring' | 'clock' | 'random' | 'webauthn'>

/** How long a ceremony may take. */
export const passkeyChallengeSeconds = 5 * 60

/** Tabs of one browser, or of one session, that may have one under way. */
const challengesAtOnce = 5

/** What a challenge may be answered for, and by what: the browser's handle, a session, or the first step of a sign-in. */
export interface ChallengeOf {
  use: 'login' | 'second_step' | 'registration' | 'upgrade' | 'reauthentication'
  holder: string
}

/**
 * A fresh challenge for one use by one holder. The row's id is a digest of all three, so it is used up without a read.
 *
 * @param userId null while the user is not known
 */
export async function issueChallenge(
  ports: ChallengePorts,
  { use, holder }: ChallengeOf,
  userId: string | null,
): Promise<string> {
  const challenge = ports.random.token()
  const now = ports.clock.now()
  const id = ports.keyring.digest(digested, textOf({ use, holder }, challenge))
  const token: OneTimeToken = {
    id,
    purpose: 'passkey_challenge',
    subject: ports.keyring.digest('passkey-holder', `${use}.${holder}`),
    userId,
    email: '',
    tokenHash: id,
    codeHash: null,
    handleHash: null,
    payload: null,
    tries: 0,
    createdAt: now,
    expiresAt: now + passkeyChallengeSeconds,
  }
  await ports.oneTimeTokens.put(token, null, { keep: challengesAtOnce, now })
  return challenge
}

/**
 * Uses up the challenge that the response names, and returns what the browser says that it did. Of concurrent calls exactly one gets it.
 *
 * @throws {AuthError} `invalid_token` when it is unknown, used, expired, for another use or of another holder
 */
export async function claimChallenge(ports: ChallengePorts, of: ChallengeOf, encoded: string): Promise<ClientData> {
  return (await claimOneOf(ports, [of], encoded)).clientData
}

/**
 * The same for a challenge that may have been issued for one of several uses.
 *
 * @throws {AuthError} `invalid_token`
 */
export async function claimOneOf<Of extends ChallengeOf>(
  ports: ChallengePorts,
  choices: readonly Of[],
  encoded: string,
): Promise<{ of: Of; clientData: ClientData }> {
  const clientData = ports.webauthn.readClientData(encoded)
  if (clientData === null) throw challengeRefused()
  for (const of of choices) if (await isClaimed(ports, of, clientData)) return { of, clientData }
  throw challengeRefused()
}

/** Unknown, used, expired and foreign look alike. */
function challengeRefused(): AuthError {
  return new AuthError('invalid_token', {
    detail: 'This passkey request is not valid. It may have been answered, or may have expired. Start again.',
  })
}

async function isClaimed(ports: ChallengePorts, of: ChallengeOf, { challenge }: ClientData): Promise<boolean> {
  for (const id of ports.keyring.digests(digested, textOf(of, challenge))) {
    if (await ports.oneTimeTokens.claim(id, 'passkey_challenge', 'passkey_claimed', ports.clock.now())) return true
  }
  return false
}

const digested = 'passkey-challenge'

function textOf({ use, holder }: ChallengeOf, challenge: string): string {
  return JSON.stringify([use, holder, challenge])
}
