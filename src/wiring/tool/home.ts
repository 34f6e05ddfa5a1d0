import type { HomeName } from '../../model/home.js'
import type { MigrationSet } from '../../store/sql/migrations/migration.js'
import type { StoreExtension } from '../../store/sql/store.js'
import type { Store } from '../../store/store.js'
import { openExtendedStore, openStore } from '../open-store.js'
import type { StoreEvents, StoreNeeds } from '../store-needs.js'

/** What differs for the tool between the database of an application and that of a space host. */
export interface ToolHome<Nouns> {
  name: HomeName
  /** The host's own migrations; null: an application. */
  further: MigrationSet | null
  open(needs: StoreNeeds, events: StoreEvents): Promise<{ store: Store; nouns: Nouns }>
}

export const application: ToolHome<null> = {
  name: 'application',
  further: null,
  open: async (needs, events) => ({ store: await openStore(needs, events), nouns: null }),
}

export function hostWith<Nouns>(extension: StoreExtension<Nouns>): ToolHome<Nouns> {
  return {
    name: 'host',
    further: extension,
    open: (needs, events) => openExtendedStore(needs, events, extension),
  }
}
