import { SettingsError } from '../errors.js'
import type { Route } from '../http/route.js'
import type { Handle, Watch } from '../http/verdict.js'
import type { Runtime } from '../lib/runtime.js'
import type { Topic } from '../model/doctor/report.js'
import type { Ports } from '../ports.js'
import type { Settings } from '../settings.js'
import type { StoreExtension } from '../store/sql/store.js'
import { createEarly } from './early.js'
import type { Home, HomeParts } from './home.js'
import { type FindSpace, hostRoutes } from './host-routes.js'
import { openExtendedStore } from './open-store.js'
import { createOpening, createWhenOpen, createWithoutStore } from './opening.js'
import type { SettingsInput } from './settings.js'
import { createSpaceGuard, type GuardedSpace, type SpaceGuardOptions } from './space-guard.js'

/** The settings of the accounts, as `init` takes them. */
export type AccountSettingsInput = SettingsInput

/** What the host adds to the accounts that this package gives it. */
export interface HostParts<Nouns> {
  extension: StoreExtension<Nouns>
  /** The host's own routes of the control API and its pages. */
  routes: readonly Route[]
  findSpace: FindSpace
  /** Called while the store opens: who may administer, from memory that the change feed keeps current. */
  createRights(nouns: Nouns, opened: HomeParts): Promise<Pick<Ports, 'rights' | 'adminTokens'>>
  /** Called when everything stands, before the first request is answered. */
  start(running: HostRunning<Nouns>): Promise<void>
  /** What `doctor` examines besides the accounts. */
  topics(): readonly Topic[]
  /** Called before the store closes. */
  close(): Promise<void>
}

export interface HostRunning<Nouns> extends HomeParts {
  nouns: Nouns
  ports: Ports
}

/** The guard of a space, and the ports of its routes. The host closes it before it closes itself. */
export function guardSpace<Nouns>(running: HostRunning<Nouns>, options: SpaceGuardOptions): GuardedSpace {
  return createSpaceGuard(running, options)
}

/** The accounts, sessions, pages and control API of the host. */
export interface HostAuth {
  handle: Handle
  watch: Watch
  settings: Settings
  /** Opens the store. @throws the fault of the store, the keys or the host's own parts */
  ready(): Promise<void>
  close(): Promise<void>
}

/**
 * Latchkey as the host uses it for itself. Its store opens with `ready`.
 *
 * @throws {SettingsError} with every fault at once; `admin.emails` is one, because rights are granted in the host
 */
export function createHostAuth<Nouns>(input: SettingsInput, parts: HostParts<Nouns>, runtime?: Runtime): HostAuth {
  if ((input.admin?.emails?.length ?? 0) > 0) {
    throw new SettingsError([
      { setting: 'auth.admin.emails', message: 'is not used by the host: grant the right ADMIN to a user instead' },
    ])
  }
  const early = createEarly(input, runtime, asHost)
  const opening = createOpening(early, homeOf(parts))
  const { handle, watch } = createWhenOpen(opening, createWithoutStore(early))
  return {
    handle,
    watch,
    settings: early.settings,
    async ready() {
      await opening.ready()
    },
    close: () => opening.close(),
  }
}

/** The control API is always there. Administrators of the host do not act as other users. */
function asHost(settings: Settings): Settings {
  const admin = { ...settings.admin, enabled: true, impersonation: null }
  return Object.freeze({ ...settings, admin: Object.freeze(admin) })
}

function homeOf<Nouns>(parts: HostParts<Nouns>): Home {
  let nouns: Nouns | null = null
  const opened = (): Nouns => {
    if (nouns === null) throw new TypeError('The store is not open.')
    return nouns
  }
  return {
    name: 'host',
    routes: hostRoutes(parts.routes, parts.findSpace),
    async openStore(needs, events) {
      const { store, nouns: found } = await openExtendedStore(needs, events, parts.extension)
      nouns = found
      return store
    },
    createRights: (of) => parts.createRights(opened(), of),
    start: (ports, of) => parts.start({ ...of, ports, nouns: opened() }),
    topics: () => parts.topics(),
    close: () => parts.close(),
  }
}
