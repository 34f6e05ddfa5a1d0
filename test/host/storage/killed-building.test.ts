import { join } from 'node:path'
import { killedBuildingContract } from '../../contracts/host/killed-building.js'

killedBuildingContract('SQLite', async (folder) => ({ file: join(folder, 'g1.db') }))
