import { importRoutes } from '../contracts/host/collections/import.js'
import { indexRoutes } from '../contracts/host/collections/indexes.js'
import { queryRoutes } from '../contracts/host/collections/query.js'
import { restoreRoutes } from '../contracts/host/collections/restore.js'
import { postgresHosts } from '../support/postgres-hosts.js'

const open = postgresHosts()

importRoutes('PostgreSQL', open)
indexRoutes('PostgreSQL', open)
queryRoutes('PostgreSQL', open)
restoreRoutes('PostgreSQL', open)
