import express from 'express'
import { expect, test } from 'vitest'
import { adapterFor } from '../../src/adapters/index.js'
import { SettingsError } from '../../src/errors.js'
import { loadCodehooks } from '../support/codehooks-host.js'

test('an application gets the adapter of its framework', async () => {
  const { app } = await loadCodehooks()
  expect([express(), app].map((made) => adapterFor(made).name)).toEqual(['Express 4 and 5', 'codehooks-js'])
})

test.each([[undefined], [null], [{}], [() => {}], ['express'], [express.Router()]])(
  'for %o there is an error that names the frameworks',
  (app) => {
    expect(() => adapterFor(app)).toThrow(SettingsError)
    expect(() => adapterFor(app)).toThrow(/app: .*codehooks-js, Express 4 and 5.*createAuth/)
  },
)
