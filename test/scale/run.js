// npm run scale [-- --short] [-- --no-redis] [-- --actors=16] [-- --staleness=1s]: three application processes, one PostgreSQL, one Redis,
// and everything that can be killed is killed under load. Ends with a table, and with 1 unless every zero is one.
// It starts servers of its own: needs the programs of PostgreSQL and Redis, on Linux.
// npm run scale -- host [--seconds=120]: a space host instead.
import { parseArgs } from 'node:util'
import { scaleHost } from './host/run.js'
import { phasesOf } from './phases.js'
import { print } from './report.js'
import { startWorld } from './world.js'

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    short: { type: 'boolean', default: false },
    'no-redis': { type: 'boolean', default: false },
    actors: { type: 'string', default: '16' },
    staleness: { type: 'string', default: '1s' },
    seconds: { type: 'string', default: '120' },
  },
})
if (positionals[0] === 'host') process.exit((await scaleHost(Number(values.seconds))) > 0 ? 1 : 0)
const seconds = (number) => (values.short ? 250 : 1000) * number

process.once('SIGINT', () => void world.stop().then(() => process.exit(130)))
process.once('uncaughtException', async (error) => {
  console.error(error)
  await world.stop()
  process.exit(1)
})
const world = await startWorld({
  actors: Number(values.actors),
  staleness: values.staleness,
  redis: !values['no-redis'],
})
try {
  const began = performance.now()
  for (const [name, happen] of phasesOf(world, seconds)) {
    console.log(`${clock(began)} ${name}`)
    world.enter(name)
    await happen()
  }
  console.log(`${clock(began)} verdict\n`)
  const report = await world.verdict()
  const broken = print(report, { ...world, minutes: (performance.now() - began) / 60_000 })
  if (broken > 0) process.exitCode = 1
} finally {
  await world.stop()
}

function clock(began) {
  const passed = Math.round((performance.now() - began) / 1000)
  return `${String(Math.floor(passed / 60)).padStart(2)}:${String(passed % 60).padStart(2, '0')}`
}
