import { join } from 'node:path'
import { createRemoteStore } from '../../../src/host/runner/datastore/datastore.js'
import { serveData } from '../../../src/host/storage/server.js'
import { documentsContract } from '../../contracts/host/documents.js'
import { indexesContract } from '../../contracts/host/indexes.js'
import { keyValuesContract } from '../../contracts/host/key-values.js'
import { temporaryFolder } from '../../support/auth.js'
import { startDataThreads, threadProgram } from '../../support/storage-threads.js'

const program = await threadProgram()
const key = 'k'.repeat(43)

async function openDirect(now: () => number = () => 0) {
  const threads = startDataThreads(program, { world: { now, timer: () => () => {} } })
  const data = await threads.open({ spaceId: 'one', file: join(temporaryFolder(), 'g1.db') })
  return { ...data, close: threads.close }
}

async function openRemote(now?: () => number) {
  const data = await openDirect(now)
  const socketPath = join(temporaryFolder(), 's.sock')
  const server = await serveData({ data, socketPath, key })
  return {
    ...createRemoteStore({ socketPath, key }),
    async close() {
      await server.close()
      await data.close()
    },
  }
}

documentsContract('a data thread', openDirect)
indexesContract('a data thread', openDirect)
keyValuesContract('a data thread', openDirect)
documentsContract('the socket of a data thread', openRemote)
indexesContract('the socket of a data thread', openRemote)
keyValuesContract('the socket of a data thread', openRemote)
