import type { Outcome, Topic } from '../../model/doctor/report.js'
import { counted, type DoctorContext, defineCheck, withStore } from './context.js'

export function accessChecks(context: DoctorContext): Topic {
  return [
    defineCheck('proxy_untrusted', () => judgeProxy(context)),
    defineCheck('allow_list_closed', () => judgeAllowList(context)),
  ]
}

/** By the request of the administrator alone: any client can send such a header, but no browser does. */
function judgeProxy({ settings, asker }: DoctorContext): Outcome {
  if (settings.development) return { skipped: 'baseUrl is on loopback.' }
  const header = asker?.forwardingHeader ?? null
  if (settings.trustedProxies.kind !== 'none' || header === null) return null
  return { finding: `Your own request arrived with the header ${header}, and trustedProxies is not set.` }
}

function judgeAllowList(context: DoctorContext): Promise<Outcome> | Outcome {
  const { settings } = context
  const { allowList, trustedProxies } = settings
  if (trustedProxies.kind !== 'hops') return null
  return withStore(context, async ({ accessSettings }) => {
    const { networks } = await accessSettings.read()
    const entries = allowList.length + networks.length
    if (entries === 0) return null
    return {
      finding: `The allow-list has ${counted(entries, 'entry', 'entries')}, and trustedProxies is the count ${trustedProxies.count}.`,
    }
  })
}
