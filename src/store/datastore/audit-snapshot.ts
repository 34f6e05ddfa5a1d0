import { toEnds } from '../audit/ends.js'
import type { Snapshot } from '../audit/verify.js'
import { audit, auditHead, onlyRow } from '../tables.js'
import type { Steps } from './engine/steps.js'

export function readSnapshot({ read, seal }: Steps): Promise<Snapshot | null> {
  return read(async (view) => {
    const head = await view.get(auditHead, onlyRow)
    const [newest] = await view.find(audit, {}, { sort: { seq: -1 }, limit: 1 })
    return head && { ...toEnds(head, seal), newest: newest?.seq ?? head.seq }
  })
}
