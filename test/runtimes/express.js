// Express over the node:http of the runtime.
// @ts-nocheck It stands on the built package.
import express from 'express'
import { init } from 'latchkey'
import { closeOnSignal, port, settings } from './common.js'

const app = express()
const auth = init(app, settings)
app.get('/api/hello', (request, response) => response.json({ id: request.auth.id }))

app.listen(port)
closeOnSignal(auth)
