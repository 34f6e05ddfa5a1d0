import { vi } from 'vitest'
import { tidy } from '../../../src/host/storage/thread/tidy.js'
import { findLaw } from '../../contracts/host/find-law.js'
import { openSqliteStore } from '../../support/sqlite-store.js'

/** `LATCHKEY_LAW_FINDS=1000000 npx vitest run --config test/vitest.config.ts test/host/documents/find-law.test.ts` for more. */
const finds = Number(process.env.LATCHKEY_LAW_FINDS ?? 10_000)
vi.setConfig({ testTimeout: 120_000 + 20 * finds })

findLaw('SQLite', finds, async () => {
  const store = await openSqliteStore()
  store.file.run('pragma synchronous = off')
  return {
    store,
    async tidy() {
      while (tidy(store.file, 0));
    },
    close: async () => store.file.close(),
  }
})
