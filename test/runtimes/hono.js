// Hono behind Bun.serve and Deno.serve.
// @ts-nocheck It stands on the built package.
import { Hono } from 'hono'
import { init } from 'latchkey'
import { closeOnSignal, serve, settings } from './common.js'

const app = new Hono()
const auth = init(app, settings)
app.get('/api/hello', (context) => context.json({ id: context.get('auth').id }))

serve(app.fetch)
closeOnSignal(auth)
