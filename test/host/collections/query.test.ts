import { queryRoutes } from '../../contracts/host/collections/query.js'

queryRoutes('SQLite', async () => ({}))
