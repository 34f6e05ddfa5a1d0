// What a flood of valid tokens leaves behind: a million distinct ones, each of a session of its own, once through the guard.
import { table } from './numbers.js'
import { launch, message } from './process.js'

const tokens = 1_000_000
/**
 * MiB of heap that may be left: 10,000 verified tokens of some 600 characters with their principals, and 50,000 sessions
 * each of which a proof is written or waiting to be; the rest is room for what V8 has not tidied up.
 */
const bound = 64

export async function benchMemory() {
  const child = launch('million.js', [String(tokens)])
  const { before, peak, after, seconds } = await message(child)
  child.disconnect()
  const mebibytes = (bytes) => (bytes / 2 ** 20).toFixed(1)
  const row = (name, key) => [name, ...[before, peak, after].map((sample) => mebibytes(sample[key]))]
  const left = (after.heapUsed - before.heapUsed) / 2 ** 20
  return {
    table: `${table([
      [`${tokens} tokens in ${seconds.toFixed(0)} s`, 'before MiB', 'peak MiB', 'after MiB'],
      row('heap in use', 'heapUsed'),
      row('RSS', 'rss'),
    ])}`,
    results: [{ name: 'heap left, MiB', value: left.toFixed(1), target: `≤ ${bound}`, pass: left <= bound }],
  }
}
