import { storeContract } from '../../../contracts/store.js'
import { openSqliteMemory } from '../../../support/databases.js'

storeContract('SQLite in memory', openSqliteMemory)
