import { indexRoutes } from '../../contracts/host/collections/indexes.js'

indexRoutes('SQLite', async () => ({}))
