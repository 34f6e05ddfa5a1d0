import type { Topic } from '../../model/doctor/report.js'
import { type DoctorContext, defineCheck, once } from './context.js'

export function redisChecks({ settings, random }: DoctorContext): Topic {
  const { redis } = settings
  const probed = once(async () => {
    if (redis === null) return null
    // ioredis is optional, so its code loads only where it is used.
    const { probeRedis } = await import('../../store/redis/probe.js')
    return probeRedis(redis, random)
  })
  return [
    defineCheck('redis_unreachable', async () => {
      const found = await probed()
      if (found === null) return noRedis
      return found.fault === null ? null : { finding: `${found.place} cannot be used: ${found.fault}.` }
    }),
    defineCheck('redis_evicts', async () => {
      const found = await probed()
      if (found === null) return noRedis
      if (found.policy === null) return { skipped: 'Redis does not show its maxmemory-policy.' }
      return found.policy === 'noeviction'
        ? null
        : { finding: `The maxmemory-policy of ${found.place} is ${found.policy}.` }
    }),
  ]
}

const noRedis = { skipped: 'The setting redis is not given.' }
