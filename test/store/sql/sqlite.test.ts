import { storeContract } from '../../contracts/store.js'
import { openSqliteFile } from '../../support/databases.js'

storeContract('SQLite file', openSqliteFile)
