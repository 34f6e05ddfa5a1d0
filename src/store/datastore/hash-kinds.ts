import type { HashKinds } from '../hash-kinds.js'
import { readInstallation } from './access-settings.js'
import type { Steps } from './engine/steps.js'
import { installation } from './engine/tables.js'

export function createHashKinds(steps: Steps): HashKinds {
  return {
    async slowest() {
      const { hash_name, hash_ms } = await steps.glance(readInstallation)
      return hash_name === null ? null : { name: hash_name, milliseconds: hash_ms }
    },

    note: ({ name, milliseconds }) =>
      steps.step(async (unit) => {
        const rounded = Math.round(milliseconds)
        const row = await readInstallation(unit)
        if (row.hash_ms < rounded) unit.put(installation, { ...row, hash_name: name, hash_ms: rounded })
      }),
  }
}
