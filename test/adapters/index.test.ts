import { createServer } from 'node:http'
import express from 'express'
import Fastify from 'fastify'
import { Hono } from 'hono'
import { expect, onTestFinished, test } from 'vitest'
import { adapterFor } from '../../src/adapters/index.js'
import { init, SettingsError } from '../../src/index.js'
import { createTestRuntime, testSettings } from '../../src/testing.js'
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

test.each([
  ['Express', () => express()],
  ['Fastify', () => Fastify()],
  ['Hono', () => new Hono()],
  ['node:http', () => createServer()],
])('a second init on an application of %s throws: each would refuse what the other let in', (_, create) => {
  const app = create()
  const auth = init(app, testSettings(), createTestRuntime())
  onTestFinished(() => auth.close())
  expect(() => init(app, testSettings(), createTestRuntime())).toThrow('app: has been given to init already')
})

test('settings with a fault leave the application as it was', () => {
  const app = express()
  expect(() => init(app, { ...testSettings(), basePath: 'auth' }, createTestRuntime())).toThrow(SettingsError)
  const auth = init(app, testSettings(), createTestRuntime())
  onTestFinished(() => auth.close())
})
