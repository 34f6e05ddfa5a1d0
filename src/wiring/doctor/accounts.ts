import { nowSeconds } from '../../lib/runtime.js'
import { isProved } from '../../model/admin-role.js'
import type { Outcome, Topic } from '../../model/doctor/report.js'
import { hasFactor } from '../../model/factors/kinds.js'
import { isDisabled, type UserRecord } from '../../model/user.js'
import { accessKeyId } from '../../tokens/jwt.js'
import { type DoctorContext, defineCheck, withStore } from './context.js'

const daySeconds = 24 * 60 * 60
const oldDays = 365

export function accountChecks(context: DoctorContext): Topic {
  return [
    defineCheck('admin_missing', () => judgeAdministrators(context)),
    defineCheck('secret_old', () => judgeSecret(context)),
  ]
}

function judgeAdministrators(context: DoctorContext): Outcome | Promise<Outcome> {
  const { emails, twoFactor } = context.settings.admin
  if (emails.length === 0) return { skipped: 'admin.emails is empty.' }
  const now = nowSeconds(context.world)
  return withStore(context, async ({ users }) => {
    const found = await Promise.all(emails.map((email) => users.findByEmail(email)))
    const faults = found.map((user) => signInFault(user, now))
    if (!faults.includes(null)) {
      const reasons = emails.map((email, index) => `${email} ${faults[index]}`)
      return { finding: `No administrator can sign in: ${reasons.join(', ')}.` }
    }
    const ready = found.filter((user, index) => user !== null && faults[index] === null && hasFactor(user))
    if (!twoFactor || ready.length > 0) return null
    return { finding: 'No account of admin.emails has a second factor, which admin.twoFactor requires.' }
  })
}

/** Why this account cannot administer; null when it can. */
function signInFault(user: UserRecord | null, now: number): string | null {
  if (user === null) return 'has no account'
  if (isDisabled(user, now)) return 'is disabled'
  return isProved(user) ? null : 'has not proved the address'
}

function judgeSecret(context: DoctorContext): Promise<Outcome> {
  const { settings, world } = context
  return withStore(context, async ({ keyIds }) => {
    const signing = settings.accessSecrets.slice(0, 1).map(accessKeyId)
    const used = (await keyIds.list()).find(({ kid }) => signing.includes(kid))
    const days = used === undefined ? 0 : Math.floor((nowSeconds(world) - used.firstUsedAt) / daySeconds)
    if (days <= oldDays) return null
    return { finding: `The first JWT_ACCESS_TOKEN_SECRET has signed for ${days} days.` }
  })
}
