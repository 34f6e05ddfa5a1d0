import { onTestFinished } from 'vitest'
import { spacesContract } from '../contracts/host/spaces.js'
import { standingClock } from '../support/postgres-clock.js'
import { createDatabase } from '../support/servers.js'
import { openSpacesOn } from '../support/spaces-on-postgres.js'

spacesContract('a PostgreSQL server', async () => {
  const { query, url, close } = await createDatabase('postgres')
  onTestFinished(() => close())
  await query(standingClock.make)
  const database = () => ({
    kind: 'postgres' as const,
    url: `${url}?options=-c%20search_path%3D${standingClock.searchPath}`,
  })
  return openSpacesOn({ database, query })
})
