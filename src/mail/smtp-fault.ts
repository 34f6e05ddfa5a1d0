import { MailFault } from './mailer.js'

const codes: Readonly<Record<string, string>> = {
  EAUTH: 'authentication_failed',
  ENOAUTH: 'authentication_failed',
  EOAUTH2: 'authentication_failed',
  ECONNECTION: 'connection_failed',
  ESOCKET: 'connection_failed',
  EPROXY: 'connection_failed',
  EDNS: 'host_not_found',
  ETIMEDOUT: 'timed_out',
  EABORT: 'timed_out',
  ETLS: 'tls_failed',
  EREQUIRETLS: 'tls_failed',
  EMESSAGE: 'message_refused',
  EPROTOCOL: 'protocol_error',
  ECONFIG: 'transport_misconfigured',
}

/**
 * What nodemailer threw as a code of ours. Only a recipient that the server refuses is refused for good: everything
 * else (wrong credentials, a sender or relay that is not allowed, a full mailbox) can be put right while the mail waits.
 */
export function smtpFault(error: unknown): MailFault {
  if (error instanceof MailFault) return error
  const { code, command, responseCode, response } = partsOf(error)
  if (code !== 'EENVELOPE') return new MailFault(ownCode(code), false)
  if (command === 'MAIL FROM') return new MailFault('sender_refused', false)
  if (command !== 'RCPT TO') return new MailFault('message_refused', false)
  return isForGood(responseCode, response)
    ? new MailFault('recipient_refused', true)
    : new MailFault('recipient_deferred', false)
}

/**
 * RFC 5321 §4.2.1: 5yz is final. Not so: 503, a confused session; 530, "log in first"; 552, which RFC 5321 §4.5.3.1.10
 * reads as 452; and by RFC 3463 x.2.2 (mailbox full), x.3 (the server's own trouble) and x.7 (policy, such as relaying).
 */
function isForGood(responseCode: number, response: string): boolean {
  if (responseCode < 500 || responseCode > 599 || [503, 530, 552].includes(responseCode)) return false
  return !/^\d{3}[ -]\d\.(?:2\.2\b|3\.|7\.)/.test(response)
}

function ownCode(code: string): string {
  return Object.hasOwn(codes, code) ? (codes[code] ?? 'transport_failed') : 'transport_failed'
}

function partsOf(error: unknown) {
  const parts: Readonly<Record<string, unknown>> = typeof error === 'object' && error !== null ? { ...error } : {}
  const { code, command, responseCode, response } = parts
  return {
    code: typeof code === 'string' ? code : '',
    command: typeof command === 'string' ? command : '',
    responseCode: typeof responseCode === 'number' ? responseCode : 0,
    response: typeof response === 'string' ? response : '',
  }
}
