import type { Route } from '../../../http/route.js'
import { queryText } from '../../../routes/admin/fields.js'
import { defineAdminPage } from '../../../routes/admin/pages/admin-page.js'
import { readLog } from '../../flows/spaces/logs.js'
import type { SpacePorts } from '../../flows/spaces/ports.js'
import type { PrintedLine } from '../../ports.js'

/** A page stays below 60 kB. */
const mostBytes = 45_000
const levels = ['info', 'error'] as const

/** Our script shows new lines as they come. */
export function logPage(ports: () => SpacePorts): Route {
  return defineAdminPage({
    home: 'space',
    path: '/logs',
    at: 'logs',
    template: 'logs',
    refreshes: true,
    summary: 'Shows the last 500 lines that the application printed, and with scripts those to come.',
    query: { level: '`info` or `error`.' },
    async values({ params, request }) {
      const level = levels.find((name) => name === queryText(request, 'level'))
      const asked = { space: params.space ?? '', ...(level !== undefined && { level }) }
      const { last } = await readLog(ports(), asked)
      const shown = newest(last)
      return {
        lines: shown.map(({ at, level, text }) => ({ at: new Date(at).toISOString(), level, text })),
        shortened: shown.length < last.length,
        levels: levels.map((value) => ({ value, text: `admin.logs.${value}`, selected: value === level })),
        followQuery: String(new URLSearchParams({ follow: 'true', ...(level !== undefined && { level }) })),
      }
    },
  })
}

/** The newest lines that a page has room for, oldest first. */
function newest(lines: readonly PrintedLine[]): readonly PrintedLine[] {
  let left = mostBytes
  const tooOld = lines.findLastIndex(({ text }) => {
    left -= bytesOnPage(text)
    return left < 0
  })
  return lines.slice(tooOld + 1)
}

/** With the time and the level. An escaped character takes up to six bytes. */
function bytesOnPage(text: string): number {
  const escaped = text.match(/[&<>"'`=]/g)?.length ?? 0
  return Buffer.byteLength(text) + 5 * escaped + 40
}
