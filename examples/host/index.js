// An application for a space host: orders of a shop. README.md says how to deploy it.
// Programs call /api with an API token of the space; everybody may read /products.
import { app, Datastore } from 'codehooks-js'

app.auth('/products', (_req, _res, next) => next())

app.get('/products', async (_req, res) => {
  const store = await Datastore.open()
  res.json(await store.getMany('products', {}, { sort: { name: 1 } }).toArray())
})

// What the host found out about the request, and the headers that it vouches for.
app.get('/api/who', (req, res) => {
  res.json({ principal: req.auth, address: req.headers['x-real-ip'], id: req.headers['x-request-id'] })
})

app.crudlify({}, { prefix: '/api' })

// At every start, so it must be repeatable.
export default app.init(async () => {
  const store = await Datastore.open()
  const sample = { _id: 'tea', name: 'Tea', price: 4 }
  await store.updateOne(
    'products',
    { _id: sample._id },
    { $set: { name: sample.name, price: sample.price } },
    { upsert: true },
  )
})
