import { failingRestores } from '../contracts/host/backups/failing-restore.js'
import { killedRestores } from '../contracts/host/backups/killed-restore.js'
import { restoreContract } from '../contracts/host/backups/restore.js'
import { postgresBed } from '../support/backup-bed.js'

const bed = postgresBed()

restoreContract('PostgreSQL', bed)
failingRestores('PostgreSQL', bed)
killedRestores('PostgreSQL', bed)
