// What the spaces of the fault run serve, bundled once a release. RELEASE is the number that the bundle was made with.
import { app, Datastore } from 'codehooks-js'

app.get('/release', (_req, res) => res.json({ release: RELEASE }))
app.post('/put', async (req, res) => {
  const conn = await Datastore.open()
  const { _id } = await conn.insertOne('puts', { _id: req.body.id, text: 'x'.repeat(200) })
  res.json({ _id })
})
app.get('/put/:id', async (req, res) => {
  const conn = await Datastore.open()
  res.json(await conn.findOneOrNull('puts', req.params.id))
})
app.post('/add/:id', async (req, res) => {
  const conn = await Datastore.open()
  await conn.updateOne('sums', { _id: req.params.id }, { $inc: { sum: 1 } }, { upsert: true })
  res.json({})
})
app.get('/sum/:id', async (req, res) => {
  const conn = await Datastore.open()
  res.json({ sum: (await conn.findOneOrNull('sums', req.params.id))?.sum ?? 0 })
})
app.post('/set/:key', async (req, res) => {
  const conn = await Datastore.open()
  await conn.set(req.params.key, String(req.body.value))
  res.json({})
})
app.get('/set/:key', async (req, res) => {
  const conn = await Datastore.open()
  res.json({ value: Number(await conn.get(req.params.key)) })
})

export default app.init()
