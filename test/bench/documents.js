// One document by its `_id`, as a child asks for it: the data socket of a space, and better-sqlite3 behind a bare HTTP server
// over a unix socket. The same client asks both, from a process of its own.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createRemoteStore } from '../../.build/host/runner/datastore/datastore.js'
import { median, spread, table } from './numbers.js'
import { launch, message } from './process.js'

const documents = 1_000
const concurrency = 16
const [rounds, roundMs] = [9, 1_500]
const target = 0.8

export async function benchDocuments() {
  const folder = mkdtempSync(join(tmpdir(), 'latchkey-bench-'))
  const key = 'k'.repeat(43)
  const servers = []
  for (const name of ['space', 'bare']) {
    const socketPath = join(folder, `${name}.sock`)
    const child = launch(
      'documents-server.js',
      [name, join(folder, `${name}.db`), socketPath, key, String(documents)],
      0,
    )
    await message(child)
    servers.push({ name, child, rates: [], store: createRemoteStore({ socketPath, key }) })
  }
  try {
    for (let round = -1; round < rounds; round += 1) {
      for (const { store, rates } of servers) {
        const rate = await measure(store.documents)
        if (round >= 0) rates.push(rate)
      }
    }
  } finally {
    for (const { child } of servers) child.disconnect()
    rmSync(folder, { recursive: true })
  }
  return report(servers)
}

async function measure(store) {
  const end = performance.now() + roundMs
  let count = 0
  const ask = async () => {
    while (performance.now() < end) {
      count += 1
      await store.get('notes', `id-${count % documents}`)
    }
  }
  const start = performance.now()
  await Promise.all(Array.from({ length: concurrency }, ask))
  return (count / (performance.now() - start)) * 1_000
}

function report([space, bare]) {
  const ratios = space.rates.map((rate, round) => rate / bare.rates[round])
  const ratio = median(ratios)
  const row = ({ name, rates }) => [name, median(rates).toFixed(0), `± ${(spread(rates) * 100).toFixed(0)} %`]
  return {
    table: table([['one document by _id', 'a second', 'spread'], row(space), row(bare)]),
    results: [
      {
        name: 'getOne / better-sqlite3 behind HTTP',
        value: ratio.toFixed(2),
        target: `≥ ${target}`,
        pass: ratio >= target,
      },
    ],
  }
}
