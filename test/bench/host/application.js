// What the spaces of the benchmark run, bundled.
import { Readable } from 'node:stream'
import { app } from 'codehooks-js'

const chunk = Buffer.alloc(64 * 1024, 'x')

app.get('/hello', (_req, res) => res.json({ hello: 'world' }))
app.get('/down/:mebibytes', (req, res) => {
  res.set('content-type', 'application/octet-stream')
  let left = Number(req.params.mebibytes) * 16
  new Readable({
    read() {
      left -= 1
      this.push(left < 0 ? null : chunk)
    },
  }).pipe(res.writable)
})
app.post('/up', async (req, res) => {
  let bytes = 0
  for await (const piece of req) bytes += piece.length
  res.json({ bytes })
})
app.get('/loop', () => {
  for (;;);
})
app.get('/log', (_req, res) => {
  for (let line = 0; line < 1_000; line += 1) console.log('x'.repeat(1_000))
  res.end()
})
app.get('/fill', () => {
  const kept = []
  setInterval(() => kept.push(Array.from({ length: 1_000_000 }, (_, n) => ({ n }))), 10)
})

export default app.init()
