import { SettingsError } from '../errors.js'
import type { Adapter } from './adapter.js'
import { codehooks } from './codehooks/codehooks.js'
import { hono } from './hono/hono.js'
import { connect } from './node/connect.js'
import { express } from './node/express.js'
import { fastify } from './node/fastify.js'
import { node } from './node/node.js'

/** To add a framework: one file in `node/` or in a room of its own, one line here, five lines in `test/adapters/`. */
const adapters: readonly Adapter<unknown>[] = [codehooks, express, fastify, hono, node, connect]

/**
 * The adapter of the framework that made `app`.
 *
 * @throws {SettingsError} when no adapter recognises it
 */
export function adapterFor(app: unknown): Adapter<unknown> {
  const found = adapters.find((adapter) => adapter.recognises(app))
  if (found) return found
  const names = adapters.map((adapter) => adapter.name).join(', ')
  throw new SettingsError([
    { setting: 'app', message: `is no application of a supported framework (${names}); without one, use createAuth` },
  ])
}
