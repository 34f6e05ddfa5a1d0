import { failingRestores } from '../contracts/host/backups/failing-restore.js'
import { postgresBed } from '../support/backup-bed.js'

failingRestores('PostgreSQL', postgresBed())
