// Rotates the keys of a host's folder, and dies by kill -9 at the point that its arguments name.
import { join } from 'node:path'
import { keysForRotation } from '../../src/host/sealing/master-key-source.js'
import { reseal, rewrap } from '../../src/host/sealing/space-keys.js'
import { hostExtension } from '../../src/host/store/sql/host-extension.js'
import { openExtended } from '../../src/store/sql/store.js'
import { anEvent } from '../contracts/store/rows.js'
import { storeOptions } from './databases.js'

const [folder = '', kind = '', point = ''] = process.argv.slice(2)

function dieAt(here: string): void {
  if (here === point) process.kill(process.pid, 'SIGKILL')
}

/** Dies before the n-th data key. */
function counted<Row, Changed>(change: (row: Row) => Changed): (row: Row) => Changed {
  let count = 0
  return (row) => {
    count += 1
    dieAt(`key ${count}`)
    return change(row)
  }
}

const database = { kind: 'sqlite', file: join(folder, 'host.db') } as const
const { nouns, store } = await openExtended({ ...storeOptions(), database }, hostExtension)
const { environment } = nouns
dieAt('start')
const own = join(folder, 'master.key')
const keys = await keysForRotation({ given: null, file: null, own }, await environment.wrappingKeys())
dieAt('line')
if (kind === 'deep') {
  const resealed = counted((row: Parameters<typeof reseal>[1]) => row)
  await environment.reseal(({ key, variables }) => reseal(keys, resealed(key), variables), anEvent())
} else {
  await environment.rewrap((rows) => {
    const changed = rewrap(keys, rows)
    dieAt('keys')
    return changed
  }, anEvent())
}
dieAt('end')
await store.close()
