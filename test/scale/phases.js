// What goes wrong, and when. A phase has its own line in the report; it ends with everything whole again.
import { sleep } from './processes.js'

const tenMinutes = 600_000

/** `seconds(n)`: that long, or a quarter in a short run. */
export function phasesOf(world, seconds) {
  const killed = async (instance, awaySeconds = 2) => {
    const restart = await world.killApp(instance)
    await sleep(1000 * awaySeconds)
    await restart()
  }
  const postgresAway = (mode, awaySeconds) =>
    world.storeAway(async () => {
      world.postgres.end(mode)
      await sleep(1000 * awaySeconds)
      world.postgres.begin()
    })
  const redisAway = async (milliseconds) => {
    if (!world.redis) return
    await world.redis.end()
    await sleep(milliseconds)
    await world.redis.begin()
  }
  const smtp = async (mood, milliseconds) => {
    await world.setSmtp(mood)
    await sleep(milliseconds)
    await world.setSmtp(null)
  }
  const slow = (weather, milliseconds) =>
    world.storeAway(async () => {
      await world.setWeather(weather)
      await sleep(milliseconds)
      await world.setWeather({ latencyMs: 0, bytesPerSecond: 1e12, refuse: false })
    })
  const clock = async (instance, aheadMs, milliseconds) => {
    await world.setClock(instance, aheadMs)
    await sleep(milliseconds)
    await world.setClock(instance, 0)
  }

  const slowDisk = { latencyMs: 40, bytesPerSecond: 100_000 }
  return [
    ['calm', () => sleep(seconds(30))],
    ['kill -9, each in turn', () => inTurn([0, 1, 2], (instance) => killed(instance).then(() => sleep(seconds(8))))],
    ['PostgreSQL restarted', () => postgresAway('fast', 1).then(() => sleep(seconds(20)))],
    ['PostgreSQL crashed', () => postgresAway('immediate', 3).then(() => sleep(seconds(20)))],
    ['connections cut', () => inTurn([1, 2, 3, 4], () => world.storeAway(world.cut).then(() => sleep(seconds(5))))],
    ['Redis gone', () => redisAway(seconds(30)).then(() => sleep(seconds(10)))],
    ['SMTP says 451', () => smtp('busy', seconds(25))],
    ['SMTP refuses', () => smtp('closed', seconds(25))],
    ['slow disk', () => slow(slowDisk, seconds(30))],
    ['clock +10 min', () => clock(1, tenMinutes, seconds(25)).then(() => sleep(seconds(10)))],
    ['clock -10 min', () => clock(2, -tenMinutes, seconds(25)).then(() => sleep(seconds(10)))],
    ['crash, kill and slow disk', () => all(postgresAway('immediate', 2), killed(0), slow(slowDisk, seconds(25)))],
    ['Redis, SMTP and a process gone', () => all(redisAway(seconds(15)), smtp('closed', seconds(20)), killed(1, 4))],
    ['calm again', () => sleep(seconds(40))],
  ]
}

async function inTurn(values, work) {
  for (const value of values) await work(value)
}

const all = (...works) => Promise.all(works)
