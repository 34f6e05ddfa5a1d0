// The framework and nothing else: what every guard is compared with.
import { frameworks } from './frameworks.js'

export async function start({ server, framework }) {
  const { create, route, listener } = frameworks[framework]
  const app = create(server)
  route(app)
  return { app: await listener(app), credentials: { none: {} } }
}
