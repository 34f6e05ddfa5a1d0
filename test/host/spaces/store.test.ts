import { spacesContract } from '../../contracts/host/spaces.js'
import { hostFolder, openProcess } from '../../support/space-world.js'

spacesContract('SQLite', async () => {
  const host = await hostFolder()
  const { nouns, store, changes } = await openProcess(host)
  return {
    nouns,
    store,
    changes,
    openSecond: async () => (await openProcess(host)).nouns,
    pass(milliseconds) {
      host.clock.nowMs += milliseconds
    },
  }
})
