import { openSender } from './sender.js'
import { smtpFault } from './smtp-fault.js'

/** One connection for one check, whatever the settings say of the pool and its time limits. */
const once = { pool: false, dnsTimeout: 4_000, connectionTimeout: 4_000, greetingTimeout: 4_000, socketTimeout: 4_000 }

/**
 * Connects, greets, encrypts and signs in as a delivery would, and sends nothing.
 *
 * @returns false when this kind of transport cannot be verified
 * @throws {MailFault}
 */
export async function verifyTransport(transport: unknown): Promise<boolean> {
  try {
    const sender = await openSender(transport, once)
    try {
      return (await sender.verify?.()) === true
    } finally {
      if (sender !== transport) sender.close?.()
    }
  } catch (error) {
    throw smtpFault(error)
  }
}
