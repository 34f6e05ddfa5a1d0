import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import PostalMime, { type Email } from 'postal-mime'
import { SMTPServer, type SMTPServerOptions } from 'smtp-server'

/** A mail as a real server took it. */
export interface DeliveredMail extends Email {
  envelope: { from: string; to: string[] }
  raw: string
}

export interface TestSmtpServer {
  /** For `settings.mail.transport`. */
  url: string
  port: number
  /** Everything that was taken, oldest first. */
  mails: readonly DeliveredMail[]
  /** Connections that are open now, and the most that were open at once. */
  connections(): { open: number; most: number }
  close(): Promise<void>
}

export interface TestSmtpServerOptions {
  /** Default: any free one. */
  port?: number
  /** `user` and `pass` that a client must give; none by default. */
  account?: { user: string; pass: string }
  /** The server's answer to that recipient, such as `550 5.1.1 nobody here`; null takes it. */
  refuseRecipient?(address: string): string | null
  /** The same for the sender. */
  refuseSender?(address: string): string | null
  /** The same for the whole message, once it was read. May wait. */
  refuseMessage?(): string | null | Promise<string | null>
}

/** Starts a real SMTP server on loopback that keeps what it takes, parsed by a library that is not the sender's. */
export async function startSmtpServer(options: TestSmtpServerOptions = {}): Promise<TestSmtpServer> {
  const mails: DeliveredMail[] = []
  let open = 0
  let most = 0
  const server = new SMTPServer({
    ...account(options),
    disabledCommands: ['STARTTLS'],
    disableReverseLookup: true,
    closeTimeout: 10,
    onConnect(_session, done) {
      open += 1
      most = Math.max(most, open)
      done()
    },
    onClose() {
      open -= 1
    },
    onMailFrom: ({ address }, _session, done) => done(refusal(options.refuseSender?.(address) ?? null)),
    onRcptTo: ({ address }, _session, done) => done(refusal(options.refuseRecipient?.(address) ?? null)),
    async onData(stream, { envelope }, done) {
      // Whoever dies in the middle of a message has sent none.
      const raw = await text(stream).catch(() => null)
      if (raw === null) return
      const refused = (await options.refuseMessage?.()) ?? null
      if (refused !== null) return done(refusal(refused))
      const from = envelope.mailFrom === false ? '' : envelope.mailFrom.address
      const to = envelope.rcptTo.map(({ address }) => address)
      mails.push({ ...(await PostalMime.parse(raw)), envelope: { from, to }, raw })
      done()
    },
  })
  // Clients that hang up in the middle of a sentence are part of the tests.
  server.on('error', () => {})
  server.listen(options.port ?? 0, '127.0.0.1')
  await once(server.server, 'listening')

  const { port } = server.server.address() as AddressInfo
  return {
    url: `smtp://127.0.0.1:${port}`,
    port,
    mails,
    connections: () => ({ open, most }),
    close: () => new Promise((resolve) => server.close(() => resolve())),
  }
}

function account({ account }: TestSmtpServerOptions): SMTPServerOptions {
  if (!account) return { authOptional: true }
  return {
    allowInsecureAuth: true,
    onAuth({ username, password }, _session, done) {
      if (username === account.user && password === account.pass) done(null, { user: username })
      else done(new Error('wrong'))
    },
  }
}

function refusal(answer: string | null): Error | null {
  if (answer === null) return null
  return Object.assign(new Error(answer.slice(4)), { responseCode: Number(answer.slice(0, 3)) })
}
