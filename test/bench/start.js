// What starting costs: importing the package, and the memory of a process with its store open. Fresh processes, in turn.
import { rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { median, shuffled, spread, table } from './numbers.js'
import { launch, message } from './process.js'

const peers = ['latchkey', 'better-auth']

export async function benchStart({ runs = 11 } = {}) {
  const files = Object.fromEntries(
    peers.map((peer) => [peer, join(tmpdir(), `latchkey-bench-${process.pid}-${peer}.db`)]),
  )
  await Promise.all(peers.map((peer) => ended(launch('prepare.js', [peer, files[peer]]))))

  const samples = { import: { latchkey: [], 'better-auth': [] }, open: { latchkey: [], 'better-auth': [] } }
  for (let run = 0; run < runs; run += 1) {
    for (const what of ['import', 'open']) {
      for (const peer of shuffled(peers)) samples[what][peer].push(await measure(peer, what, files[peer]))
    }
  }

  const leftovers = peers.flatMap((peer) => ['', '-wal', '-shm'].map((suffix) => files[peer] + suffix))
  await Promise.all(leftovers.map((file) => rm(file, { force: true })))
  return report(samples)
}

async function measure(peer, what, file) {
  const child = launch('footprint.js', [peer, what, file], 0)
  const [value] = await Promise.all([message(child), ended(child)])
  return value
}

function ended(child) {
  return new Promise((resolve) => child.once('exit', resolve))
}

function report(samples) {
  const rows = [['a fresh process', 'import ms', '±', 'RSS with SQLite open, MiB', '±']]
  for (const peer of peers) {
    const [imports, opens] = [samples.import[peer], samples.open[peer]]
    const percent = (values) => `${(100 * spread(values)).toFixed(1)}%`
    rows.push([peer, median(imports).toFixed(0), percent(imports), median(opens).toFixed(1), percent(opens)])
  }
  const ratio = (what) => median(samples[what].latchkey) / median(samples[what]['better-auth'])
  return {
    table: table(rows),
    results: [
      {
        name: 'import time / better-auth',
        value: ratio('import').toFixed(2),
        target: '≤ 0.50',
        pass: ratio('import') <= 0.5,
      },
      {
        name: 'memory with SQLite open / better-auth',
        value: ratio('open').toFixed(2),
        target: '≤ 1.00',
        pass: ratio('open') <= 1,
      },
    ],
  }
}
