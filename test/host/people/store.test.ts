import { afterAll, beforeAll, describe } from 'vitest'
import { peopleContract } from '../../contracts/host/people.js'
import { startPostgres, type TestPostgres } from '../../support/pglite.js'

describe('SQLite', () => {
  peopleContract(async () => ({ kind: 'sqlite', file: ':memory:' }))
})

describe('PostgreSQL', () => {
  let postgres: TestPostgres
  beforeAll(async () => {
    postgres = await startPostgres()
  })
  afterAll(() => postgres.close())
  peopleContract(async () => {
    await postgres.wipe()
    return { kind: 'dialect', dialect: postgres.dialect() }
  })
})
