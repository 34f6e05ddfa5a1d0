// node smtp.js {port}: a mail server that tells its parent of each mail that it took, and refuses as it is told to.
import { text } from 'node:stream/consumers'
import PostalMime from 'postal-mime'
import { SMTPServer } from 'smtp-server'

const { port } = JSON.parse(process.argv[2])
/** `null`, `busy` (451 to everything) or `closed` (nobody listens). */
let mood = null
let server = null

await open()
process.send({ ready: true })

process.on('message', async (message) => {
  const before = mood
  mood = message.mood
  if (mood === 'closed') await new Promise((resolve) => server.close(resolve))
  else if (before === 'closed') await open()
  process.send({ mood })
})
process.on('disconnect', () => process.exit())

function open() {
  server = new SMTPServer({
    authOptional: true,
    disabledCommands: ['STARTTLS'],
    disableReverseLookup: true,
    closeTimeout: 10,
    onMailFrom: (_address, _session, done) => done(mood === 'busy' ? refusal(451, 'try again later') : null),
    onRcptTo({ address }, _session, done) {
      done(address.startsWith('poison') ? refusal(550, 'nobody here') : null)
    },
    async onData(stream, { envelope }, done) {
      const raw = await text(stream).catch(() => null)
      // Whoever dies in the middle of a message has sent none.
      if (raw === null) return
      const { messageId, subject, text: body } = await PostalMime.parse(raw)
      const [, page, token] = body.match(/\/auth\/([\w-]+)\?token=([\w.-]+)/) ?? []
      const [code] = body.match(/\b\d{6,8}\b/) ?? []
      const to = envelope.rcptTo[0].address
      process.send({ mail: { to, subject, messageId, page, token, code, at: Date.now() } })
      done()
    },
  })
  // Clients that are killed in the middle of a sentence are part of the run.
  server.on('error', () => {})
  return new Promise((resolve) => server.listen(port, '127.0.0.1', resolve))
}

function refusal(responseCode, message) {
  return Object.assign(new Error(message), { responseCode })
}
