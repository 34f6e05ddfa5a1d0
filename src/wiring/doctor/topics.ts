import type { CheckPlace, Topic } from '../../model/doctor/report.js'
import { accessChecks, accountChecks, keySetChecks } from './access.js'
import type { DoctorContext } from './context.js'
import { dnsChecks, mailChecks } from './mail.js'
import { oauthChecks } from './oauth.js'
import { passwordChecks } from './passwords.js'
import { processChecks } from './process.js'
import { redisChecks, storeChecks, timeChecks } from './store.js'

const topics: readonly ((context: DoctorContext) => Topic)[] = [
  processChecks,
  accountChecks,
  storeChecks,
  timeChecks,
  mailChecks,
  dnsChecks,
  accessChecks,
  keySetChecks,
  oauthChecks,
  passwordChecks,
  redisChecks,
]

/** The checks of that place, for one run. */
export function topicsOf(context: DoctorContext, place: Exclude<CheckPlace, 'N'>): Topic[] {
  return topics.map((checksOf) => checksOf(context).filter(({ row }) => row.where.includes(place)))
}
