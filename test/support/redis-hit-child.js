// Counts once on the Redis of argv[2] and prints what came of it. A process of its own, since Node reads
// NODE_EXTRA_CA_CERTS when it starts.

import { setTimeout as wait } from 'node:timers/promises'
import { openRedis } from '../../.build/store/redis/open.js'

const { 2: url = '' } = process.argv
const { counters, close } = await openRedis({
  redis: url,
  installationId: 'child',
  self: 'child',
  random: () => 0.5,
  sleep: (milliseconds) => wait(milliseconds),
  timer: () => () => {},
  logger: { warn() {}, error() {} },
})
console.log(JSON.stringify(await counters.hit('one', { limit: 3, windowSeconds: 60 }, 1_000)))
await close()
