import { isoTime } from '../../lib/iso-time.js'
import { createWorld, nowSeconds } from '../../lib/runtime.js'
import type { DoctorReport } from '../../model/doctor/report.js'
import type { RemoteHome } from '../home.js'
import type { Examined } from '../tool.js'
import { ToolError } from '../tool-error.js'
import { gatherEvidence } from './evidence.js'
import { judgeNetwork, skipNetwork } from './network-checks.js'

/** The checks of the server, and those of the network from here to it. */
export async function examineRemotely(home: RemoteHome): Promise<DoctorReport> {
  const report = await home.readDoctor().catch(withoutServer)
  const evidence = await gatherEvidence(await home.networkTarget())
  return { ...report, checks: [...report.checks, ...judgeNetwork(evidence)] }
}

/** An allow-list that excludes this machine is a finding of the network, so the examination goes on. */
function withoutServer(error: unknown): DoctorReport {
  if (!(error instanceof ToolError) || error.code !== 'ip_not_allowed') throw error
  return { checkedAt: isoTime(nowSeconds(createWorld())), checks: [] }
}

/** The checks of the settings and the store, and those of the network from here to `baseUrl`. */
export async function examineHere({ home, input, topics }: Examined): Promise<DoctorReport> {
  const { examineLocally } = await import('../../wiring/doctor/local.js')
  const { report, target } = await examineLocally(input, { home, more: topics })
  const network = 'auth' in target ? judgeNetwork(await gatherEvidence(target)) : skipNetwork(target.skipped)
  return { ...report, checks: [...report.checks, ...network] }
}
