import { countAccounts } from '../../../flows/control/find-accounts.js'
import { countSessions } from '../../../flows/control/find-sessions.js'
import { listAudit } from '../../../flows/control/read-audit.js'
import { lastReport } from '../../../flows/control/run-doctor.js'
import type { Count } from '../../../flows/steps/paging.js'
import type { Health } from '../../../model/health.js'
import { defineAdminPage } from './admin-page.js'
import { shownEvents } from './events.js'

export const overviewPage = defineAdminPage({
  path: '',
  at: 'overview',
  template: 'overview',
  summary: 'Shows accounts, sessions, the mail queue, health, findings of doctor and the newest events.',
  async values({ ports, settings }) {
    const [accounts, sessions, health, { items }, report] = await Promise.all([
      countAccounts(ports),
      countSessions(ports),
      ports.operations.health(),
      listAudit(ports, { limit: 10 }),
      lastReport(ports),
    ])
    return {
      accounts: counted(accounts, settings.locale),
      liveSessions: counted(sessions, settings.locale),
      waiting: String(health.outbox?.waiting ?? '–'),
      setAside: health.outbox?.setAside ?? 0,
      findings: report && {
        count: String(report.checks.filter(({ ok }) => !ok).length),
        good: report.checks.every(({ ok }) => ok),
      },
      healthy: health.status === 'ok',
      health: { text: `admin.health.${health.status}`, rows: healthRows(health) },
      events: await shownEvents(ports, items),
    }
  },
})

function counted({ count, more }: Count, locale: string): string {
  return `${new Intl.NumberFormat(locale).format(count)}${more ? '+' : ''}`
}

function healthRows({ store, changeFeed, hashing, outbox, redis }: Health) {
  const age = changeFeed.ageMs === null ? '' : `${changeFeed.ageMs} ms`
  return [
    row('store', store.ok, store.latencyMs === null ? '' : `${store.latencyMs} ms`),
    row('feed', changeFeed.fresh, age),
    row('hashing', hashing.queued < 64, String(hashing.queued)),
    row('outbox', outbox !== null && outbox.setAside === 0, outbox === null ? '' : waitOf(outbox.oldestSeconds)),
    ...(redis === null ? [] : [row('redis', redis.ok, redis.latencyMs === null ? '' : `${redis.latencyMs} ms`)]),
  ]
}

function row(name: string, ok: boolean, value: string) {
  return { text: `admin.health.${name}`, ok, value, missing: 'admin.health.none' }
}

function waitOf(seconds: number | null): string {
  return `${seconds ?? 0} s`
}
