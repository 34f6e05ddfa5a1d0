import { documentsScript } from '../contracts/host/collections/documents-script.js'
import { postgresHosts } from '../support/postgres-hosts.js'

documentsScript('PostgreSQL', postgresHosts())
