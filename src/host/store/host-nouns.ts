import type { Appointments, FirstAdmin } from './first-admin.js'
import type { PeopleNouns } from './people.js'
import type { SpaceNouns } from './space-nouns.js'

/** Everything that a host stores besides its accounts. */
export interface HostNouns extends PeopleNouns, SpaceNouns {
  firstAdmin: FirstAdmin & Appointments
}
