// Routes for the page of the demo. In an application, API tokens and the audit log belong to its administrators.
import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'
import express from 'express'

/**
 * Latchkey prints the address of the mailbox page once, inside `init`. The demo keeps it for the link on its page. Call this
 * before `init`; the address is there after it.
 */
export function mailboxAddress() {
  const { log } = console
  const mailbox = { address: '/' }
  console.log = (...line) => {
    const [address] = /http\S+\/dev\/mailbox\?key=\S+/.exec(line.join(' ')) ?? []
    if (address === undefined) return log(...line)
    console.log = log
    mailbox.address = address
  }
  return mailbox
}

/** The page, its client, and the server-side calls that it shows: `auth.apiTokens` and `auth.audit`. */
export function createTour(auth, mailbox) {
  // In memory, like the notes. Tokens carry no user: an application keeps a table of its own.
  const owners = new Map()
  const router = express.Router()
  router.use(express.static(fileURLToPath(new URL('page', import.meta.url))))
  // Usually a bundler brings the client. Here the browser loads its modules as they are.
  router.use('/latchkey', express.static(dirname(fileURLToPath(import.meta.resolve('latchkey/client')))))
  // A redirect, because a script of another page cannot read where it leads.
  router.get('/mailbox', (_req, res) => res.redirect(303, mailbox.address))

  // Below /api, so the guard asks for a credential. Only a session counts: a token must not create tokens.
  router.use('/api/tour', auth.require({ kinds: ['session'] }))
  router.get('/api/tour/tokens', async (req, res) => {
    const { items } = await auth.apiTokens.list({ limit: 200 })
    res.json(items.filter(({ id }) => owners.get(id) === req.auth.userId))
  })
  router.post('/api/tour/tokens', async (req, res) => {
    const name =
      String(req.body?.name ?? '')
        .replace(/\s+/g, ' ')
        .trim()
        .slice(0, 100) || 'curl'
    const access = req.body?.access === 'READ' ? 'READ' : 'READWRITE'
    const token = await auth.apiTokens.create({ name, access })
    owners.set(token.id, req.auth.userId)
    res.status(201).json(token) // the only response that contains the token itself
  })
  router.delete('/api/tour/tokens/:id', async (req, res) => {
    const isOwn = owners.get(req.params.id) === req.auth.userId
    if (isOwn) await auth.apiTokens.remove(req.params.id)
    res.sendStatus(isOwn ? 204 : 404)
  })
  router.get('/api/tour/audit', async (req, res) => {
    const { userId } = req.auth
    // Events of a user name the user. Events of a token name the token.
    const [own, ...ofTokens] = await Promise.all([
      auth.audit.list({ userId, limit: 30 }),
      auth.audit.list({ event: 'api_token_created' }),
      auth.audit.list({ event: 'api_token_removed' }),
    ])
    const tokens = ofTokens.flatMap(({ items }) => items).filter(({ detail }) => owners.get(detail.tokenId) === userId)
    res.json([...own.items, ...tokens].sort((one, other) => other.at.localeCompare(one.at)).slice(0, 30))
  })

  /** The user that a request acts for: the signed-in one, or the one that created the API token. */
  const ownerOf = ({ userId, tokenId }) => userId ?? owners.get(tokenId) ?? tokenId
  return { router, ownerOf }
}
