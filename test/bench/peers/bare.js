// Express and nothing else: what every guard is compared with.
import express from 'express'
import { hello } from './hello.js'

export async function start() {
  const app = express()
  app.get('/api/hello', hello)
  return { app, credentials: { none: {} } }
}
