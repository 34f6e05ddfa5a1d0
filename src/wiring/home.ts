import type { Revocations } from '../guard/revocations.js'
import type { Route } from '../http/route.js'
import { answers } from '../http/router.js'
import type { Keyring } from '../lib/keyring.js'
import type { World } from '../lib/runtime.js'
import type { SharedClock } from '../lib/shared-clock.js'
import type { Topic } from '../model/doctor/report.js'
import type { HomeName } from '../model/home.js'
import { rightByRole } from '../model/right.js'
import type { Ports } from '../ports.js'
import { routes } from '../routes/index.js'
import type { Settings } from '../settings.js'
import type { Store } from '../store/store.js'
import type { BetweenProcesses } from './between-processes.js'
import type { OpenStore } from './open-store.js'
import { openStore } from './open-store.js'

/** What differs between an application and the host of many applications. */
export interface Home {
  name: HomeName
  /** Everything that answers below `basePath`. */
  routes: readonly Route[]
  openStore: OpenStore
  /** What users and admin tokens may administer. Called while the store opens, before anything answers. */
  createRights(opened: HomeParts): Promise<Pick<Ports, 'rights' | 'adminTokens'>>
  /** Called when everything stands, before the first request is answered. */
  start(ports: Ports, opened: HomeParts): Promise<void>
  /** What `doctor` examines besides. */
  topics(): readonly Topic[]
  /** Called before the store closes. */
  close(): Promise<void>
}

/** What a home builds its own parts on. */
export interface HomeParts {
  settings: Settings
  world: World
  store: Store
  clock: SharedClock
  /** The change feed, of all scopes. */
  revocations: Revocations
  shared: BetweenProcesses
  keyring: Keyring
  limiter: Ports['limiter']
  policy: Ports['policy']
}

/** Paths of the application's routes that belong to the whole host. */
export function rootPathsOf(settings: Settings): string[] {
  return routes.filter((route) => route.root && answers(route, settings)).map(({ path }) => path)
}

export const application: Home = {
  name: 'application',
  routes,
  openStore,
  createRights: async () => ({ rights: { of: rightByRole }, adminTokens: null }),
  start: async () => {},
  topics: () => [],
  close: async () => {},
}
