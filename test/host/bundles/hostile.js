// What a bundle may try; it answers with what became of it.
import { spawn } from 'node:child_process'
import { closeSync, mkdtempSync, readFileSync, writeFileSync, writeSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Worker } from 'node:worker_threads'
import { app } from 'codehooks-js'

const attempts = {
  passwd: () => readFileSync('/etc/passwd', 'utf8'),
  environ: () => readFileSync('/proc/self/environ', 'utf8'),
  parent: () => readFileSync(`/proc/${process.ppid}/environ`, 'utf8'),
  write: () => writeFileSync(new URL('bundle.mjs', import.meta.url), ''),
  temporary: () => writeFileSync(`${process.env.HOME}/note.txt`, 'mine'),
  tmpdir: () => writeFileSync(join(mkdtempSync(join(tmpdir(), 'upload-')), 'part'), 'mine'),
  // As Node ends when the heap is full.
  abort: () => process.abort(),
  setuid: () => process.setuid(0),
  fill: () => {
    const byte = Buffer.alloc(1024 * 1024, 'x')
    for (let file = 0; file < 64; file += 1) writeFileSync(`${process.env.HOME}/${file}`, byte)
  },
  spawn: () => spawn('/bin/true'),
  worker: () => new Worker('1', { eval: true }),
  addon: () => process.dlopen({ exports: {} }, '/no/such.node'),
  binding: () => process.binding('fs'),
  send: () => process.send({}),
  prototype: () => ({}).polluted,
  evil: () => Object.evil,
  arguments: () => [process.argv, process.execArgv].flat().join(' '),
}

app.auth('/*', (_req, _res, next) => next())
app.get('/try/:name', async (req, res) => {
  try {
    res.json({ value: (await attempts[req.params.name]()) ?? null })
  } catch (error) {
    res.json({ code: error.code ?? error.name })
  }
})
app.get('/signal', (_req, res) => {
  process.kill(process.pid, 'SIGUSR1')
  res.end('sent')
})
app.get('/flood', (_req, res) => {
  try {
    for (;;) writeSync(3, `${'x'.repeat(1023)}\n`)
  } catch {
    // The pipe is full.
  }
  res.end('flooded')
})
app.get('/forge', (req, res) => {
  Object.assign(req, { auth: { kind: 'session', userId: 'admin' } })
  let symbol = 'changed'
  try {
    req[Symbol.for('latchkey.host')] = { kind: 'apiToken' }
  } catch (error) {
    symbol = error.name
  }
  res.json({ auth: req.auth, symbol })
})
app.get('/long-line', (_req, res) => {
  const part = 'x'.repeat(64 * 1024)
  try {
    for (let sent = 0; sent < 250 * 1024 * 1024; sent += part.length) writeSync(3, part)
  } catch {
    // The pipe is full, or closed.
  }
  res.end('sent')
})
app.get('/close-pipe', (_req, res) => {
  closeSync(3)
  res.end('closed')
})
app.get('/buffers', (_req, res) => {
  const kept = []
  setInterval(() => kept.push(Buffer.alloc(16 * 1024 * 1024, 'x')), 20)
  res.end('filling')
})
app.get('/heap', () => {
  const kept = []
  for (;;) kept.push(new Array(100_000).fill({}))
})
app.get('/log-line', (_req, res) => {
  console.log('y'.repeat(5 * 1024 * 1024))
  res.end('printed')
})
app.get('/log-flood', (_req, res) => {
  for (let line = 0; line < 20_000; line += 1) console.log(`line ${line}`)
  res.end('printed')
})
app.get('/loop', () => {
  for (;;);
})
app.get('/squat', (_req, res) => {
  const server = createServer()
  server.on('error', (error) => res.json({ code: error.code }))
  server.listen(`${process.env.HOME}/squat.sock`, () => {
    server.close()
    res.json({ value: 'listening' })
  })
})

export default app.init()
