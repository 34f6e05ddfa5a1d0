import { importRoutes } from '../../contracts/host/collections/import.js'

importRoutes('SQLite', async () => ({}))
