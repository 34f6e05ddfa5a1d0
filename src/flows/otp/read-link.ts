import type { Ports } from '../../ports.js'
import { codeOfLink } from '../steps/mailed-code.js'
import { holdsOtp } from './request.js'

export type ReadOtpLinkPorts = Pick<Ports, 'oneTimeTokens' | 'keyring' | 'clock' | 'policy'>

/** A mailed link in this browser: invalid, asked for here, or asked for in another browser. */
export type OtpLink =
  | { standing: 'invalid' | 'own' }
  | {
      standing: 'foreign'
      /** The code of the same mail, for typing where it was asked for. null: the mail has none, or it takes no more guesses. */
      code: string | null
    }

/**
 * Reads a mailed link without using it up, so that a scanner that opens it costs its owner nothing.
 *
 * The code of the mail may be shown to the holder of its link: that person could read it in the mail. It signs in only with the
 * handle of the browser that asked.
 */
export async function readOtpLink(
  ports: ReadOtpLinkPorts,
  { token, handle }: { token: string; handle: string | null },
): Promise<OtpLink> {
  const { oneTimeTokens, keyring, clock, policy } = ports
  const found = await oneTimeTokens.findByHash('otp', keyring.digests('otp', token), clock.now())
  if (found === null) return { standing: 'invalid' }
  if (holdsOtp(ports, found, handle)) return { standing: 'own' }
  return { standing: 'foreign', code: found.tries < policy.codeTries ? codeOfLink(ports, found, token) : null }
}
