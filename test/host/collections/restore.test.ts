import { restoreRoutes } from '../../contracts/host/collections/restore.js'

restoreRoutes('SQLite', async () => ({}))
