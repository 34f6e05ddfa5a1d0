// No guard, but what our layer for Express gives each request from the start: how much of its figures is that, and how little
// is left for the guard.
import { nameEarly } from '../../../dist/adapters/express-names.js'
import { frameworks } from './frameworks.js'

export async function start({ server }) {
  const { create, route } = frameworks.express
  const app = create(server)
  nameEarly(app)
  route(app)
  return { app, credentials: { 'no guard': {} } }
}
