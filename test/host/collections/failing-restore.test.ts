import { failingRestores } from '../../contracts/host/backups/failing-restore.js'
import { sqliteBed } from '../../support/backup-bed.js'

failingRestores('SQLite', sqliteBed)
