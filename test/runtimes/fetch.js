// `auth.fetch` behind Bun.serve and Deno.serve.
// @ts-nocheck It stands on the built package.
import { createAuth } from 'latchkey'
import { addressOf, closeOnSignal, serve, settings } from './common.js'

const auth = createAuth(settings)
const next = (_request, principal) => Response.json({ id: principal.id })

serve((request, info) => auth.fetch(request, { ip: addressOf(request, info), next }))
closeOnSignal(auth)
// createAuth opens at its first use. Opening now prints the address of the mailbox.
await auth.ready()
