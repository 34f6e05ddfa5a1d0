// A hostile application. Each try gives what it reached outside of its space, or null; most throw. `place` says what there is.
import { app } from 'codehooks-js'
import { changes, reads } from './files.js'
import { builtIns, starts } from './modules.js'
import { names, reach } from './reach.js'

const groups = { reads, changes, builtIns, starts, names, reach }

app.auth('/*', (_req, _res, next) => next())
app.post('/names', (req, res) => {
  const all = Object.entries(groups).flatMap(([group, make]) =>
    Object.keys(make(req.body)).map((name) => [group, name]),
  )
  res.json(all)
})
app.post('/try', async (req, res) => {
  const { place, group, name } = req.body
  try {
    res.json({ loot: (await groups[group](place)[name]()) ?? null })
  } catch (error) {
    res.json({ code: String(error?.code ?? error?.message ?? error) })
  } finally {
    process.chdir(process.env.HOME)
  }
})

export default app.init()
