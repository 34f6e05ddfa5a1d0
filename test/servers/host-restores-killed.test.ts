import { killedRestores } from '../contracts/host/backups/killed-restore.js'
import { postgresBed } from '../support/backup-bed.js'

killedRestores('PostgreSQL', postgresBed())
