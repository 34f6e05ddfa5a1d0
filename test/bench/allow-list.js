// What an allow-list of 10,000 networks costs a request: the addresses of requests that were never seen before, and one that
// asks again. In one process, without HTTP; batches in turn, medians.
import { createAllowList } from '../../.build/guard/allow-list.js'
import { median, shuffled, timings } from './numbers.js'

const batch = 5_000
const rounds = 41

export async function benchAllowList() {
  const list = createAllowList(networks(), true)
  const addresses = {
    'IPv4, never seen': randomV4,
    'IPv6, never seen': randomV6,
    'the same again': () => '10.1.2.3',
  }
  const samples = Object.fromEntries(Object.keys(addresses).map((name) => [name, []]))
  for (let round = -5; round < rounds; round += 1) {
    for (const name of shuffled(Object.keys(addresses))) {
      const microseconds = time(list, addresses[name])
      if (round >= 0) samples[name].push(microseconds)
    }
  }
  const results = Object.entries(samples).map(([name, values]) => {
    const value = median(values)
    return {
      name: `µs a request, 10,000 networks, ${name}`,
      value: value.toFixed(2),
      target: '< 2.00',
      pass: value < 2,
    }
  })
  return { table: timings('allow-list of 10,000 networks', samples), results }
}

function time(list, address) {
  const sent = Array.from({ length: batch }, address)
  const began = performance.now()
  let allowed = 0
  for (const ip of sent) if (list.allows(ip)) allowed += 1
  const microseconds = ((performance.now() - began) * 1000) / batch
  if (allowed === 0) throw new Error('the list lets nobody in')
  return microseconds
}

/** Half of each family, apart from one another, so that none is joined with the next; some half of the addresses are on them. */
function networks() {
  const v4 = Array.from({ length: 5_000 }, (_, index) => `10.${index % 250}.${Math.floor(index / 250) * 8}.0/22`)
  const v6 = Array.from({ length: 5_000 }, (_, index) => `2001:db8:${(index * 2).toString(16)}::/48`)
  return [...v4, ...v6]
}

function randomV4() {
  return `10.${below(250)}.${below(160)}.${below(256)}`
}

function randomV6() {
  const group = () => (1 + below(65_535)).toString(16)
  return `2001:db8:${(1 + below(9_999)).toString(16)}:${group()}:${group()}:${group()}:${group()}:${group()}`
}

function below(end) {
  return Math.floor(Math.random() * end)
}
