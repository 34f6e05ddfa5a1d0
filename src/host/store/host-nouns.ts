import type { Appointments, FirstAdmin, PeopleNouns } from './people.js'
import type { SpaceNouns } from './spaces.js'

/** Everything that a host stores besides its accounts. */
export interface HostNouns extends PeopleNouns, SpaceNouns {
  firstAdmin: FirstAdmin & Appointments
}
