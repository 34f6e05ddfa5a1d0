// Prints what it is sent, as it is sent, and ends in many ways.
import { app } from 'codehooks-js'

const held = []
app.auth('/*', (_req, _res, next) => next())
app.get('/release', (_req, res) => res.json({ pid: process.pid, release: process.env.RELEASE ?? null }))
app.post('/print', (req, res) => {
  for (const part of req.body.out ?? []) process.stdout.write(part)
  for (const part of req.body.err ?? []) process.stderr.write(part)
  res.end('printed')
})
app.get('/exit/:code', (req, res) => {
  res.end('bye')
  res.writable.on('close', () => process.exit(Number(req.params.code)))
})
app.get('/slow/:ms', (req, res) => setTimeout(() => res.end('slow'), Number(req.params.ms)))
app.get('/held', (_req, res) => void held.push(res))
app.get('/let-go', (_req, res) => {
  for (const each of held) each.end('held')
  res.end(String(held.length))
})
app.get('/stubborn', (_req, res) => {
  process.removeAllListeners('SIGTERM')
  process.on('SIGTERM', () => {})
  setInterval(() => {}, 1_000)
  res.end('stays')
})

export default app.init(() => console.log('started'))
