import { packageVersion } from '../../lib/optional-package.js'
import type { Doctor, DoctorRun, Topic } from '../../model/doctor/report.js'
import type { Store } from '../../store/store.js'
import type { Early } from '../early.js'
import type { DoctorStore } from './context.js'

export interface ServerDoctorOptions {
  early: Pick<Early, 'settings' | 'world' | 'random' | 'hashFallback'>
  store: DoctorStore & Pick<Store, 'migrations' | 'installationId'>
  /** Milliseconds since the last good read of the change feed. */
  feedAgeMs(): number | null
  /** The topics of the home. */
  more(): readonly Topic[]
}

/** The checks of a running application. Their code loads at the first run. */
export function createServerDoctor({ early, store, feedAgeMs, more }: ServerDoctorOptions): Doctor {
  const { settings, world, random, hashFallback } = early
  let last: DoctorRun | null = null
  return {
    installationId: store.installationId,
    timer: world.timer,
    last: () => last,
    keep(run) {
      last = run
    },
    async topics(asker) {
      const { topicsOf } = await import('./topics.js')
      const context = {
        settings,
        world,
        asker,
        store: async () => store,
        reach: () => store.changes.recent(0),
        migrations: store.migrations,
        feedAgeMs,
        hashFallback,
        installedVersion: packageVersion,
        random: random.jitter,
      }
      return [...topicsOf(context, 'S'), ...more()]
    },
  }
}
