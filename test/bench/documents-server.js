// A server of documents.js: `space` as the host serves it, or `bare`.
import { createServer } from 'node:http'
import Database from 'better-sqlite3'
import { serveData } from '../../.build/host/storage/server.js'
import { createDataThreads } from '../../.build/host/storage/threads.js'

const [name, file, socketPath, key, count] = process.argv.slice(2)
const rows = Array.from({ length: Number(count) }, (_, n) => ({
  id: `id-${n}`,
  body: JSON.stringify({ _id: `id-${n}`, title: `Note ${n}`, text: 'x'.repeat(200), tags: ['a', 'b'] }),
}))

await (name === 'space' ? space() : bare())
process.once('disconnect', () => process.exit())
process.send('ready')

async function space() {
  const threads = createDataThreads({
    world: { now: Date.now, timer: () => () => {} },
    mayWrite: () => true,
    onFault: console.error,
  })
  const data = await threads.open({ spaceId: 'one', file })
  await data.documents.putMany('notes', rows, 'absent')
  await serveData({ data, socketPath, key })
}

async function bare() {
  const database = new Database(file)
  database.pragma('journal_mode = wal')
  database.exec('create table notes (id text primary key, ver integer, body text)')
  const insert = database.prepare('insert into notes values (?, 1, ?)')
  database.transaction(() => rows.forEach(({ id, body }) => void insert.run(id, body)))()
  const find = database.prepare('select id, ver as version, body from notes where id = ?')
  const server = createServer(async (request, response) => {
    const chunks = []
    for await (const chunk of request) chunks.push(chunk)
    const [, id] = JSON.parse(Buffer.concat(chunks).toString())
    const text = JSON.stringify({ value: find.get(id) ?? null })
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) }).end(text)
  })
  await new Promise((resolve) => server.listen(socketPath, resolve))
}
