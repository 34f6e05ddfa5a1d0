import { join } from 'node:path'
import { isLoopbackHost, sameOrigins } from '../../lib/url.js'
import { isSamePlace } from './listen.js'
import type { HostTable } from './schema.js'

export interface Seen {
  table: HostTable
  /** True when none of these settings has a fault of its own. */
  sound(...names: (keyof HostTable)[]): boolean
  fault(setting: string, message: string): void
}

/** Rules over several settings. */
export const hostRules: readonly ((seen: Seen) => void)[] = [adminIsApart, placesDiffer, socketNamesFit]

const loopbackAdminUrl = 'http://127.0.0.1:4311'

/** The origin of the host's pages. null: it must be given. */
export function adminUrlOf({ adminUrl, baseUrl }: Pick<HostTable, 'adminUrl' | 'baseUrl'>): string | null {
  return adminUrl ?? (isLoopbackHost(baseUrl.hostname) ? loopbackAdminUrl : null)
}

/** Cookies know no ports, so pages of a space on the same host name would share them with the host's pages. */
function adminIsApart({ table, sound, fault }: Seen): void {
  if (!sound('baseUrl', 'adminUrl')) return
  const written = adminUrlOf(table)
  if (written === null) {
    fault('adminUrl', 'is required when baseUrl is not on loopback. Give it a host name of its own')
    return
  }
  const admin = new URL(written)
  const isAtHome = isLoopbackHost(admin.hostname) && isLoopbackHost(table.baseUrl.hostname)
  if (!isAtHome && admin.hostname === table.baseUrl.hostname) {
    fault('adminUrl', 'must have another host name than baseUrl: cookies know no ports')
  } else if (sameOrigins(table.baseUrl.origin).some((origin) => sameOrigins(admin.origin).includes(origin))) {
    fault('adminUrl', 'must have another port than baseUrl')
  }
}

function placesDiffer({ table, sound, fault }: Seen): void {
  if (!sound('listen', 'adminListen')) return
  if (isSamePlace(table.listen, table.adminListen)) fault('adminListen', 'must be another place than listen')
}

/** As in `openRunFolder`: Node cuts longer names silently, so two spaces would share a socket. */
const longestSocketBytes = 103
const socketNameLength = 'x'.repeat(22).concat('.sock')

function socketNamesFit({ table, sound, fault }: Seen): void {
  if (!sound('data')) return
  const bytes = Buffer.byteLength(join(table.data, 'run', socketNameLength))
  if (bytes <= longestSocketBytes) return
  fault('data', `makes names of sockets with ${bytes} bytes, and ${longestSocketBytes} are allowed. Use a shorter path`)
}
