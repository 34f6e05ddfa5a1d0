// An application whose collections are open to tokens, as crudlify makes them.
import { app } from 'codehooks-js'

app.crudlify({}, { prefix: '/crud' })
export default app.init()
