import type { Route } from '../http/route.js'
import type { HostParts } from '../wiring/for-host.js'
import type { OpenSpaces, SpacesGround } from './spaces/ground.js'
import type { FirstAdmin } from './store/people.js'

/** What the host is built of, besides its folder and sockets. `Nouns` are the host's own tables. */
export interface HostPieces<Nouns> extends Pick<HostParts<Nouns>, 'extension' | 'createRights' | 'topics' | 'close'> {
  /** The host's own routes of the control API and its pages. */
  routes: readonly Route[]
  firstAdmin(nouns: Nouns): FirstAdmin
  /** Ids of the master keys that have wrapped data keys. */
  wrappingKeys(nouns: Nouns): Promise<readonly string[]>
  /** Opens the spaces: their data, their processes, and what the front knows of them. Called once, before anything listens. */
  openSpaces(ground: SpacesGround<Nouns>): Promise<OpenSpaces>
}
