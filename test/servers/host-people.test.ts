import { afterEach, describe } from 'vitest'
import { peopleContract } from '../contracts/host/people.js'
import { createDatabase, type TestDatabase } from '../support/servers.js'

describe('people of the host on a PostgreSQL server', () => {
  let database: TestDatabase | null = null
  afterEach(async () => {
    await database?.close()
    database = null
  })
  peopleContract(async () => {
    database = await createDatabase('postgres')
    return database
  })
})
