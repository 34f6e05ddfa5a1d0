import { restoreContract } from '../../contracts/host/backups/restore.js'
import { sqliteBed } from '../../support/backup-bed.js'

restoreContract('SQLite', sqliteBed)
