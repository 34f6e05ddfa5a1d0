import type { PeopleNouns } from '../../store/people.js'

/** What the flows over users, teams and admin tokens reach besides the ports of every flow. */
export interface PeoplePorts extends PeopleNouns {
  spaces: SpaceNames
  /** Resolves when every change that this process knows of is in force here. */
  inForce(): Promise<void>
}

/** Admin tokens keep ids of spaces, because a removed space's name may be used again. */
export interface SpaceNames {
  /** The ids of the spaces that exist, by name. */
  idsOf(names: readonly string[]): Promise<ReadonlyMap<string, string>>
  /** The names of the spaces that exist, by id. */
  namesOf(ids: readonly string[]): Promise<ReadonlyMap<string, string>>
}
