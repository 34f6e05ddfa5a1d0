import { createRequire } from 'node:module'
import type { AddressInfo } from 'node:net'
import express5 from 'express'
import fastify from 'fastify'
import { Hono } from 'hono'
import { describe, expect, onTestFinished, test } from 'vitest'
import { init } from '../../src/index.js'
import { createTestRuntime, testSettings } from '../../src/testing.js'
import { hostCodehooks, loadCodehooks } from '../support/codehooks-host.js'

const express4: typeof express5 = createRequire(import.meta.url)('express4')

/** Installs Latchkey with a logger that keeps what it says of routes. */
function install(app: unknown, baseAPIRoutes?: string) {
  const lines: unknown[] = []
  const logger = {
    warn: ({ event, ...fields }: Readonly<Record<string, unknown>>) => {
      if (event === 'routes_unguarded') lines.push(fields)
    },
    error: () => {},
  }
  const auth = init(app, testSettings({ logger, ...(baseAPIRoutes ? { baseAPIRoutes } : {}) }), createTestRuntime())
  onTestFinished(() => auth.close())
  return lines
}

const uncovered = [{ prefixes: ['/api'], suggestion: '/v1' }]

describe('Express', () => {
  async function ask(app: ReturnType<typeof express5>): Promise<void> {
    const server = app.listen(0)
    onTestFinished(() => void server.close())
    const { port } = server.address() as AddressInfo
    for (const path of ['/', '/v1/notes']) await fetch(`http://localhost:${port}${path}`)
  }

  test.each([
    ['Express 4', express4],
    ['Express 5', express5],
  ])('%s says at the first request, once, that no route is guarded', async (_, express) => {
    const app = express()
    const lines = install(app)
    app.use(express.json())
    app.get('/v1/notes/:id', (_req, res) => void res.end())
    app.post('/v1/notes', (_req, res) => void res.end())
    expect(lines).toEqual([])
    await ask(app)
    expect(lines).toEqual(uncovered)
  })

  test('Express 5 knows routers and handlers that are mounted', async () => {
    const router = express5.Router().get('/notes', (_req, res) => void res.end())
    const app = express5()
    const lines = install(app)
    app.use('/v1', router)
    await ask(app)
    expect(lines).toEqual(uncovered)

    const covered = express5()
    const none = install(covered)
    covered.use('/v1', router)
    covered.use('/api', (_req, res) => void res.end())
    await ask(covered)
    expect(none).toEqual([])
  })

  test('has nothing to say where a route is a pattern, or Express 4 does not keep where a router is mounted', async () => {
    const app = express5()
    const lines = install(app)
    app.get(/^\/ap./, (_req, res) => void res.end())
    app.get('/v1', (_req, res) => void res.end())
    await ask(app)
    const older = express4()
    const none = install(older)
    older.use('/v1', express4.Router())
    older.get('/v1', (_req, res) => void res.end())
    await ask(older)
    expect([lines, none]).toEqual([[], []])
  })
})

test('Fastify lists what plugins add', async () => {
  const app = fastify()
  const lines = install(app)
  app.get('/v1', () => 'root')
  app.get('/v1/notes/:id', () => 'note')
  app.register(
    async (plugin) => {
      plugin.get('/users', () => 'users')
      plugin.post('/users', () => 'users')
    },
    { prefix: '/v2' },
  )
  onTestFinished(() => app.close())
  await app.inject('/v1')
  expect(lines).toEqual(uncovered)

  const covered = fastify()
  const none = install(covered, '/v2/users')
  covered.get('/v1', () => 'root')
  covered.register(async (plugin) => void plugin.get('/users/:id', () => 'user'), { prefix: '/v2' })
  onTestFinished(() => covered.close())
  await covered.inject('/v1')
  expect(none).toEqual([])
})

test('Hono lists what is mounted, and middleware is no route', async () => {
  const app = new Hono()
  const lines = install(app)
  app.use('/api/*', async (_c, next) => next())
  app.route(
    '/v1',
    new Hono().get('/notes', (c) => c.text('notes')),
  )
  await app.request('/v1/notes')
  expect(lines).toEqual(uncovered)

  const covered = new Hono()
  const none = install(covered)
  covered.all('/api/notes', (c) => c.text('notes'))
  covered.get('/v1', (c) => c.text('v1'))
  await covered.request('/v1')
  expect(none).toEqual([])
})

test('codehooks-js lists its routes without ours', async () => {
  const { app } = await loadCodehooks()
  const lines = install(app)
  app.get('/v1/notes', (_req, res) => res.end('notes'))
  const host = await hostCodehooks(app.init(), { space: null })
  onTestFinished(() => host.close())
  // The platform itself refuses a route that no hook of `app.auth` opens.
  await fetch(`http://localhost:${host.port}/auth/login`)
  expect(lines).toEqual(uncovered)
})
