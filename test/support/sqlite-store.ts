import { join } from 'node:path'
import { createDocuments } from '../../src/host/storage/thread/documents.js'
import { createIndexes } from '../../src/host/storage/thread/indexes.js'
import { createKeyValues } from '../../src/host/storage/thread/key-values.js'
import { openSpaceFile, type SpaceFile } from '../../src/host/storage/thread/space-file.js'
import { temporaryFolder } from './auth.js'
import { type RecordedStore, recordedStore } from './recorded-store.js'

export interface SqliteStore extends RecordedStore {
  file: SpaceFile
}

/** The data of a space in a file. */
export async function openSqliteStore(): Promise<SqliteStore> {
  const file = await openSpaceFile({ file: join(temporaryFolder(), 'g1.db'), quotaBytes: 1024 ** 3 })
  const keyValues = createKeyValues(file, () => 0)
  const store = recordedStore({ documents: createDocuments(file), indexes: createIndexes(file), keyValues })
  return Object.assign(store, { file })
}
