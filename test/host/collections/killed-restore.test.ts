import { killedRestores } from '../../contracts/host/backups/killed-restore.js'
import { sqliteBed } from '../../support/backup-bed.js'

killedRestores('SQLite', sqliteBed)
