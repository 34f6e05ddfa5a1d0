import { restoreContract } from '../contracts/host/backups/restore.js'
import { postgresBed } from '../support/backup-bed.js'

restoreContract('PostgreSQL', postgresBed())
